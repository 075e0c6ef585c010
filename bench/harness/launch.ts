// Starts one measuring process, with the flags its mode needs, a deadline, and its output on our
// stderr. The child is killed by its pid at the deadline and when we exit early.

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ChildOrder, type ChildReport, parseReport } from './child-report.ts';
import { type Bench, DEFAULT_TIMEOUT_MS } from './define-bench.ts';
import { ALLOCATION_FLAGS } from './measure-allocations.ts';
import { withTempFolder } from './temp-folder.ts';

export interface LaunchOptions {
  readonly bench: Bench<unknown>;
  readonly order: Omit<ChildOrder, 'reportPath'>;
}

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
/** Timing runs with Node's own heap defaults: what production has. */
const TIMING_FLAGS: readonly string[] = ['--expose-gc'];

export function launchChild({ bench, order }: LaunchOptions): Promise<ChildReport> {
  return withTempFolder('bench', async (folder) => {
    const reportPath = join(folder, 'report.json');
    const flags = order.mode === 'time' ? TIMING_FLAGS : ALLOCATION_FLAGS;
    const failure = await runNode(
      [...flags, ...(bench.nodeFlags ?? []), CHILD, JSON.stringify({ ...order, reportPath })],
      bench.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    );
    const text = readOptional(reportPath);
    if (text !== undefined) return parseReport(text);
    return { kind: 'failed', message: `no report: ${failure ?? 'process ended early'}` };
  });
}

/** Resolves with what went wrong, or undefined for exit code 0. */
async function runNode(args: readonly string[], timeoutMs: number): Promise<string | undefined> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 2, 2],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  const stop = (): void => {
    child.kill('SIGKILL');
  };
  process.once('exit', stop);
  try {
    return await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (signal !== null) resolve(`ended by ${signal} (limit ${timeoutMs} ms)`);
        else resolve(code === 0 ? undefined : `exit code ${code}`);
      });
    });
  } finally {
    process.removeListener('exit', stop);
  }
}

function readOptional(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
