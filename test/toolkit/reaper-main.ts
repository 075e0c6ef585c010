// The second process of reaper.ts: reads registrations until its owner is gone, then undoes what
// is left. It keeps going after an error, because one stuck directory must not leak ten servers;
// each error is printed. It ignores SIGINT and SIGTERM for the same reason: it ends by itself.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { readProcessStat } from './process-identity.ts';
import type { ReaperMessage, Remnant } from './reaper.ts';

const ORDER: readonly Remnant['kind'][] = ['group', 'netns', 'dir'];

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
  const remnants = new Map<number, Remnant>();
  for await (const line of createInterface({ input: process.stdin })) {
    // Our own test process wrote it; a torn last line means that it died while registering.
    const message = parse(line);
    if (message === undefined) continue;
    if (message.op === 'add') remnants.set(message.id, message.remnant);
    else remnants.delete(message.id);
  }
  for (const kind of ORDER) {
    for (const remnant of remnants.values()) {
      if (remnant.kind === kind) attempt(remnant);
    }
  }
}

function parse(line: string): ReaperMessage | undefined {
  try {
    return JSON.parse(line) as ReaperMessage;
  } catch (error) {
    report(`unreadable registration ${JSON.stringify(line)}`, error);
    return undefined;
  }
}

function attempt(remnant: Remnant): void {
  try {
    undo(remnant);
  } catch (error) {
    report(`could not undo ${JSON.stringify(remnant)}`, error);
  }
}

function undo(remnant: Remnant): void {
  switch (remnant.kind) {
    case 'group':
      killGroup(remnant.pid, remnant.startTicks);
      return;
    case 'netns':
      // Registered before it is made, and others may sweep after a dead owner too.
      if (!existsSync(`/run/netns/${remnant.name}`)) return;
      execFileSync('ip', ['netns', 'del', remnant.name], { stdio: ['ignore', 'ignore', 'pipe'] });
      return;
    case 'dir':
      unmountBelow(remnant.path);
      rmSync(remnant.path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
      return;
  }
}

/** Containers that died with their test leave their roots mounted: those could not be removed. */
function unmountBelow(folder: string): void {
  const places = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`));
  // What was mounted last may lie in what was mounted before.
  for (const place of places.reverse()) {
    execFileSync('umount', ['--lazy', place], { stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

function killGroup(pid: number, startTicks: string): void {
  // The kernel keeps a pid reserved while its group has members. So another start time under
  // that number means that the whole group is gone and a stranger runs there.
  const stat = readProcessStat(pid);
  if (stat !== undefined && stat.startTicks !== startTicks) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

function report(what: string, error: unknown): void {
  process.stderr.write(`test reaper: ${what}: ${String(error)}\n`);
}

await main();
