// One process that the demo starts: its output goes to a log file, its early end is noticed, and it is
// gone when the demo is, whatever happened. In a process group of its own, because a Ctrl-C in the
// terminal must end the clusters first and the shard after them, not all at once.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { BigFleetError, runWithDeadline, type Runtime, sleep } from '@bigfleet/base';
import { COMPILE_CACHE } from '../compile-cache.ts';
import { tellGuardian } from './guardian.ts';

export interface ChildOptions {
  readonly runtime: Runtime;
  readonly name: string;
  /** `process.execPath` and a script, or a program that is no script. */
  readonly command: readonly [program: string, ...args: readonly string[]];
  readonly logFile: string;
  /** Each answers 200 when the process is ready. */
  readonly readyUrls: readonly string[];
}

/** How a process ended. */
export interface Ended {
  /** Undefined when it ended by itself. */
  readonly signal: NodeJS.Signals | undefined;
  readonly text: string;
}

/** What the demo waits for and stops, be it one process or one after another. */
export interface Running {
  readonly name: string;
  readonly pid: number | undefined;
  /** Rejects when it ends before it is stopped; never resolves. */
  readonly died: Promise<never>;
  ready(signal: AbortSignal): Promise<void>;
  /** Resolves when it is gone. */
  stop(): Promise<void>;
}

/** For a machine that does much else; a process that dies is noticed at once. */
const READY_WITHIN_MS = 90_000;
const POLL_MS = 25;
/** Beyond the 10 s that a shard takes for itself. */
const STOP_WITHIN_MS = 15_000;
const LOG_TAIL_LINES = 15;

export class Child implements Running {
  readonly name: string;
  readonly died: Promise<never>;
  /** Resolves in any case. */
  readonly ended: Promise<Ended>;
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  #isStopping = false;
  #hasEnded = false;

  constructor(options: ChildOptions) {
    const { name, command, logFile } = options;
    const [program, ...args] = command;
    this.name = name;
    this.#options = options;
    const log = openSync(logFile, 'a');
    this.#process = spawn(program, args, {
      stdio: ['ignore', log, log],
      detached: true,
      env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env },
    });
    closeSync(log);
    const { pid } = this.#process;
    tellGuardian('start', pid);
    const { promise: ended, resolve: end } = Promise.withResolvers<Ended>();
    const { promise: died, reject: die } = Promise.withResolvers<never>();
    // Somebody may only look later; until then it is not unhandled.
    died.catch(() => {});
    this.ended = ended;
    this.died = died;
    const onEnd = (signal: NodeJS.Signals | undefined, text: string): void => {
      this.#hasEnded = true;
      tellGuardian('end', pid);
      process.off('exit', this.#kill);
      end({ signal, text });
      if (!this.#isStopping) die(this.deathOf(text));
    };
    this.#process.once('error', (error) => onEnd(undefined, error.message));
    this.#process.once('exit', (code, signal) =>
      onEnd(signal ?? undefined, signal ?? `exit code ${code}`),
    );
    process.once('exit', this.#kill);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async ready(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    const over = new AbortController();
    const parent = AbortSignal.any([signal, over.signal]);
    const waiting = runWithDeadline(runtime, { ms: READY_WITHIN_MS, parent }, (within) =>
      this.#pollReady(within),
    );
    try {
      await Promise.race([waiting, this.died]);
    } finally {
      // Nobody asks a process that is gone.
      over.abort(new BigFleetError('cancelled', `${this.name} ended or is ready`));
    }
  }

  /** As if it had crashed: nothing is written down any more. */
  kill(): void {
    this.#kill();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#hasEnded) return;
    this.#process.kill('SIGTERM');
    const ended = runWithDeadline(this.#options.runtime, { ms: STOP_WITHIN_MS }, () => this.ended);
    await ended.catch(async () => {
      this.#kill();
      await this.ended;
    });
  }

  /** With the end of its log. */
  deathOf(how: string): BigFleetError {
    const { logFile } = this.#options;
    const tail = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES);
    const text = `the ${this.name} ended (${how}); the end of ${logFile}:\n${tail.join('\n')}`;
    return new BigFleetError('unavailable', text);
  }

  async #pollReady(signal: AbortSignal): Promise<void> {
    const { readyUrls, runtime } = this.#options;
    for (const url of readyUrls) {
      while (!(await isReady(url, signal))) await sleep(runtime, POLL_MS, signal);
    }
  }

  readonly #kill = (): void => {
    this.#process.kill('SIGKILL');
  };
}

async function isReady(url: string, signal: AbortSignal): Promise<boolean> {
  return await fetch(url, { signal }).then(
    async (response) => {
      await response.body?.cancel();
      return response.ok;
    },
    () => false,
  );
}
