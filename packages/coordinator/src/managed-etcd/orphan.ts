// An etcd that outlived its coordinator (SIGKILL takes the parent only) still holds the data
// directory. The next coordinator ends it by the process id that the last one wrote down, and only
// if that number is still the same process: its start time must match too.

import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Runtime, sleep } from '@bigfleet/base';

const pollMs = 50;
const graceMs = 5_000;

export function pidFileOf(dataDir: string): string {
  return join(dataDir, 'etcd.pid');
}

export function writePidFile(path: string, pid: number): void {
  writeFileSync(path, JSON.stringify({ pid, start_ticks: startTicksOf(pid) ?? '' }), {
    mode: 0o600,
  });
}

/**
 * Resolves when no process of the file is left, or none that SIGKILL can end; the signal ends the
 * wait.
 */
export async function endOrphan(
  runtime: Runtime,
  path: string,
  signal?: AbortSignal,
): Promise<void> {
  const recorded = readRecord(path);
  if (recorded === undefined) return;
  const { pid, startTicks } = recorded;
  const isAlive = (): boolean => startTicks !== '' && startTicksOf(pid) === startTicks;
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    if (isAlive()) send(pid, name);
    const endMs = runtime.clock.monotonicMs() + graceMs;
    while (isAlive() && runtime.clock.monotonicMs() < endMs) await sleep(runtime, pollMs, signal);
  }
  rmSync(path, { force: true });
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended in this moment, which is all that was wanted.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function readRecord(path: string): { pid: number; startTicks: string } | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { pid, start_ticks: startTicks } = parsed as { pid?: unknown; start_ticks?: unknown };
    if (typeof pid !== 'number' || typeof startTicks !== 'string') return undefined;
    return { pid, startTicks };
  } catch {
    // Absent or half-written: nothing is known, so nothing is ended.
    return undefined;
  }
}

/** Field 22 of /proc/<pid>/stat; undefined when there is no such process (or no /proc). */
function startTicksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state, ...rest] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : rest[18];
  } catch {
    // The process has ended.
    return undefined;
  }
}
