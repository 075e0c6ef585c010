// Starts and stops real processes, by pid only. Each runs in a process group of its own, so that
// its children go with it, and is registered with the reaper, so that a crashed test leaves
// nothing behind. Output is captured, bounded, and part of every failure message.
// Refuses: unbounded waits, killing by name, and signalling a number whose process has ended.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Socket } from 'node:net';
import { eventually } from './eventually.ts';
import { ProcessOutput } from './process-output.ts';
import { readProcessStat } from './process-identity.ts';
import { isReady, type Readiness } from './readiness.ts';
import { HANG_MS, withDeadline } from './real-time.ts';
import { leaveToReaper } from './reaper.ts';

export interface ProcessSpec {
  /** For failure messages. */
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  /** Added to PATH, HOME and TMPDIR of the test; nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  /** Everything that it prints is appended here as well. */
  readonly logFile?: string;
  readonly ready?: Readiness;
  /** Deadline of `ready`; a hang guard unless told. */
  readonly readyWithinMs?: number;
  /** How long `stop` waits after SIGTERM before SIGKILL; a hang guard unless told. */
  readonly stopWithinMs?: number;
}

/** How a process ended. */
export type ProcessExit =
  | { readonly kind: 'code'; readonly code: number }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals };

/** Resolves once `ready` holds; on failure kills what it started and throws with its output. */
export async function startProcess(spec: ProcessSpec): Promise<RunningProcess> {
  const child = spawn(spec.command, spec.args ?? [], {
    cwd: spec.cwd,
    env: { ...inheritedEnv(), ...spec.env },
    uid: spec.uid,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // Two ways to learn that exec failed; `error` comes instead of `spawn`.
  await once(child, 'spawn').catch((error: unknown) => {
    throw new Error(`${spec.name}: cannot start ${spec.command}`, { cause: error });
  });
  const running = new RunningProcess(spec, child);
  try {
    await running.waitReady();
  } catch (error) {
    await running.kill();
    throw error;
  }
  return running;
}

export class RunningProcess implements AsyncDisposable {
  readonly name: string;
  readonly pid: number;
  readonly output: ProcessOutput = new ProcessOutput();
  readonly #spec: ProcessSpec;
  readonly #child: ChildProcess;
  /** Resolves when the process has ended and its output is complete. Never rejects. */
  readonly #exited: Promise<ProcessExit>;
  #exit: ProcessExit | undefined;

  constructor(spec: ProcessSpec, child: ChildProcess) {
    const { pid, stdout, stderr } = child;
    if (pid === undefined || stdout === null || stderr === null) {
      throw new Error(`${spec.name}: started without a pid or pipes`);
    }
    this.name = spec.name;
    this.pid = pid;
    this.#spec = spec;
    this.#child = child;
    this.output.attach(stdout, '');
    this.output.attach(stderr, '');
    if (spec.logFile !== undefined) {
      const log = createWriteStream(spec.logFile, { flags: 'a' });
      for (const stream of [stdout, stderr]) stream.pipe(log, { end: false });
      child.once('close', () => log.end());
    }
    // A zombie until we reap it, so the stat is there even when it has already ended.
    const startTicks = readProcessStat(pid)?.startTicks ?? '';
    const ended = leaveToReaper({ kind: 'group', pid, startTicks });
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        // Whatever it forked goes with it, and would otherwise hold the output pipes open.
        this.#signalGroup('SIGKILL');
        ended();
        this.#exit =
          signal === null ? { kind: 'code', code: code ?? -1 } : { kind: 'signal', signal };
      });
      child.once('close', () => {
        const exit = this.#exit ?? { kind: 'code', code: -1 };
        this.output.end(`${this.name} ended: ${describeExit(exit)}`);
        resolve(exit);
      });
    });
    unrefAll(child);
    child.stdin?.on('error', (error) => this.output.note(`stdin: ${error.message}`));
  }

  /** `undefined` while it runs. */
  get exit(): ProcessExit | undefined {
    return this.#exit;
  }

  /** Rejects, with its output, when it still runs after `withinMs`. */
  async waitExit(withinMs: number = HANG_MS): Promise<ProcessExit> {
    try {
      return await withDeadline(`${this.name} end`, withinMs, () => this.#exited);
    } catch (error) {
      throw new Error(`${String(error)}\n${this.output.text()}`, { cause: error });
    }
  }

  async waitReady(): Promise<void> {
    const { ready } = this.#spec;
    if (ready === undefined) return;
    const withinMs = this.#spec.readyWithinMs ?? HANG_MS;
    if (ready.kind === 'line') {
      await this.waitForLine(ready.pattern, withinMs);
      return;
    }
    await eventually((signal) => isReady(ready, signal), {
      what: `${this.name} ready (${ready.kind})`,
      withinMs,
      details: () => this.output.text(),
      hopeless: () => (this.#exit === undefined ? undefined : `ended: ${describeExit(this.#exit)}`),
    });
  }

  /** A line already printed counts. Rejects at once when the process ends without one. */
  waitForLine(pattern: RegExp, withinMs?: number): Promise<RegExpExecArray> {
    return this.output.waitForLine(pattern, withinMs);
  }

  /** Writes to its standard input. */
  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  closeInput(): void {
    this.#child.stdin?.end();
  }

  signal(signal: NodeJS.Signals): void {
    if (this.#exit === undefined) process.kill(this.pid, signal);
  }

  /** SIGTERM, then SIGKILL after the bound. Idempotent. */
  async stop(): Promise<ProcessExit> {
    if (this.#exit === undefined) {
      this.#signalGroup('SIGTERM');
      // A stopped process does not see SIGTERM until it continues.
      this.#signalGroup('SIGCONT');
    }
    const withinMs = this.#spec.stopWithinMs ?? HANG_MS;
    // `#exited` never rejects, so the only failure here is the deadline.
    return withDeadline(`${this.name} stop`, withinMs, () => this.#exited).catch(() => this.kill());
  }

  /** SIGKILL to the whole group; resolves when it is gone. Idempotent. */
  async kill(): Promise<ProcessExit> {
    if (this.#exit === undefined) this.#signalGroup('SIGKILL');
    return withDeadline(`${this.name} (pid ${this.pid}) kill`, HANG_MS, () => this.#exited);
  }

  /** SIGSTOP: alive, connected, silent. Resolves when the kernel shows it as stopped. */
  async pause(): Promise<void> {
    this.#signalGroup('SIGSTOP');
    await this.#waitState('paused', (state) => state === 'T' || state === 't');
  }

  async resume(): Promise<void> {
    this.#signalGroup('SIGCONT');
    await this.#waitState('resumed', (state) => state !== 'T' && state !== 't');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop().then(() => {});
  }

  #waitState(what: string, matches: (state: string) => boolean): Promise<true> {
    return eventually(
      () => {
        const stat = readProcessStat(this.pid);
        return stat !== undefined && matches(stat.state);
      },
      { what: `${this.name} ${what}`, everyMs: 2 },
    );
  }

  #signalGroup(signal: NodeJS.Signals): void {
    try {
      process.kill(-this.pid, signal);
    } catch (error) {
      // No such group: it ended by itself between our look and the call.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

/**
 * A test that forgets to stop a process, or fails before it does, must still end: otherwise one
 * failed assertion hangs the whole file. The reaper takes what is left. Every wait here has a
 * deadline, and its timer keeps the event loop alive for as long as someone waits.
 */
function unrefAll(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) {
    if (stream instanceof Socket) stream.unref();
  }
}

export function describeExit(exit: ProcessExit): string {
  return exit.kind === 'code' ? `exit code ${exit.code}` : exit.signal;
}

function inheritedEnv(): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of ['PATH', 'HOME', 'TMPDIR']) {
    const value = process.env[name];
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}
