// Runs test files in one Node process, within a bound of time, and returns what they reported.
// The process leads its own group, so that a killed test takes the servers it started with it.

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Outcome, outcomeOf, type ProcessEnd, parseRecords } from './events.ts';

export interface ChildRun {
  readonly root: string;
  readonly subject: string;
  /** Relative to root. */
  readonly files: readonly string[];
  /** 'shared': all files in one process. 'own': exactly one file, run as a program. */
  readonly isolation: 'shared' | 'own';
  /** Killed after this long: in 'own' since its start, in 'shared' since its last sign of life. */
  readonly boundMs: number;
  readonly env?: Readonly<Record<string, string>>;
}

export interface ChildResult {
  readonly outcome: Outcome;
  readonly ms: number;
  /** The end of what the tests wrote to stdout and stderr. */
  readonly output: string;
}

/** Characters kept of a process's output; a failing test prints its reason near the end. */
const OUTPUT_LIMIT = 256 * 1024;
const WATCH_MS = 250;

const groups = new Set<number>();

/** Kills what still runs, for a runner that is interrupted. */
export function killChildren(): void {
  for (const group of groups) killGroup(group);
}

export async function runChild(run: ChildRun): Promise<ChildResult> {
  const folder = mkdtempSync(path.join(tmpdir(), 'bigfleet-test-'));
  try {
    const events = path.join(folder, 'events.jsonl');
    writeFileSync(events, '');
    const started = performance.now();
    const { end, output } = await watch(run, events);
    const records = parseRecords(readFileSync(events, 'utf8'));
    const outcome = outcomeOf({ subject: run.subject, records, end });
    return { outcome, ms: performance.now() - started, output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function nodeArguments(run: ChildRun): string[] {
  const reporter = [`--test-reporter=${path.join(import.meta.dirname, 'reporter.ts')}`];
  if (run.isolation === 'own') return [...reporter, ...run.files];
  return ['--test', '--test-isolation=none', '--test-force-exit', ...reporter, ...run.files];
}

function childEnvironment(run: ChildRun, events: string): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = {
    // Every file is a process, and starts more of them: each would compile the same sources again.
    NODE_COMPILE_CACHE: path.join(run.root, '.cache/compiled'),
    ...process.env,
    ...run.env,
    BIGFLEET_TEST_EVENTS: events,
  };
  // Inherited when the runner itself is under test; it would switch the reporter off.
  delete env['NODE_TEST_CONTEXT'];
  return env;
}

function watch(run: ChildRun, events: string): Promise<{ end: ProcessEnd; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, nodeArguments(run), {
      cwd: run.root,
      env: childEnvironment(run, events),
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output = (output + chunk).slice(-OUTPUT_LIMIT);
      });
    }
    const group = child.pid;
    if (group !== undefined) groups.add(group);
    const isOver = boundOf(run, events);
    let timedOut = false;
    const timer = setInterval(() => {
      if (timedOut || !isOver() || group === undefined) return;
      timedOut = true;
      killGroup(group);
    }, WATCH_MS);
    const settle = (): void => {
      clearInterval(timer);
      if (group !== undefined) groups.delete(group);
    };
    child.once('error', (error) => {
      settle();
      reject(error);
    });
    // 'exit', not 'close': a server left behind by a test may hold the pipes open for ever.
    child.once('exit', (code, signal) => {
      settle();
      if (group !== undefined) killGroup(group);
      const end = { code, signal, ...(timedOut ? { timedOutMs: run.boundMs } : {}) };
      setImmediate(() => resolve({ end, output }));
    });
  });
}

/** Tells whether the process has used up its time. */
function boundOf({ isolation, boundMs }: ChildRun, events: string): () => boolean {
  let since = performance.now();
  let lastSize = 0;
  return () => {
    const size = isolation === 'shared' ? statSync(events).size : 0;
    if (size !== lastSize) since = performance.now();
    lastSize = size;
    return performance.now() - since > boundMs;
  };
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch (error) {
    // The group is empty: everything in it has ended by itself.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
