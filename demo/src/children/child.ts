// One process that the demo starts: its output goes to a log file, its early end is noticed, and it is
// gone when the demo is, whatever happened. In a process group of its own, because a Ctrl-C in the
// terminal must end the clusters first and the shard after them, not all at once.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { BigFleetError, runWithDeadline, type Runtime, sleep } from '@bigfleet/base';

export interface ChildOptions {
  readonly runtime: Runtime;
  readonly name: string;
  readonly script: string;
  readonly args: readonly string[];
  readonly logFile: string;
  /** Each answers 200 when the process is ready. */
  readonly readyUrls: readonly string[];
}

/** For a machine that does much else; a process that dies is noticed at once. */
const READY_WITHIN_MS = 90_000;
const POLL_MS = 50;
/** Beyond the 10 s that a shard takes for itself. */
const STOP_WITHIN_MS = 15_000;
const LOG_TAIL_LINES = 15;

export class Child {
  readonly name: string;
  /** Rejects when the process ends before it is stopped; never resolves. */
  readonly died: Promise<never>;
  readonly #options: ChildOptions;
  readonly #process: ChildProcess;
  readonly #ended: Promise<string>;
  #isStopping = false;
  #hasEnded = false;

  constructor(options: ChildOptions) {
    const { name, script, args, logFile } = options;
    this.name = name;
    this.#options = options;
    const log = openSync(logFile, 'w');
    this.#process = spawn(process.execPath, [script, ...args], {
      stdio: ['ignore', log, log],
      detached: true,
    });
    closeSync(log);
    const { promise: ended, resolve: end } = Promise.withResolvers<string>();
    const { promise: died, reject: die } = Promise.withResolvers<never>();
    // Somebody may only look later; until then it is not unhandled.
    died.catch(() => {});
    this.#ended = ended;
    this.died = died;
    const onEnd = (how: string): void => {
      this.#hasEnded = true;
      process.off('exit', this.#kill);
      end(how);
      if (!this.#isStopping) die(this.#deathOf(how));
    };
    this.#process.once('error', (error) => onEnd(error.message));
    this.#process.once('exit', (code, signal) => onEnd(signal ?? `exit code ${code}`));
    process.once('exit', this.#kill);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async ready(signal: AbortSignal): Promise<void> {
    const { runtime } = this.#options;
    const waiting = runWithDeadline(runtime, { ms: READY_WITHIN_MS, parent: signal }, (within) =>
      this.#pollReady(within),
    );
    await Promise.race([waiting, this.died]);
  }

  /** Resolves when it is gone. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#hasEnded) return;
    this.#process.kill('SIGTERM');
    const ended = runWithDeadline(this.#options.runtime, { ms: STOP_WITHIN_MS }, () => this.#ended);
    await ended.catch(async () => {
      this.#kill();
      await this.#ended;
    });
  }

  async #pollReady(signal: AbortSignal): Promise<void> {
    const { readyUrls, runtime } = this.#options;
    for (const url of readyUrls) {
      while (!(await isReady(url, signal))) await sleep(runtime, POLL_MS, signal);
    }
  }

  #deathOf(how: string): BigFleetError {
    const { logFile } = this.#options;
    const tail = readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-LOG_TAIL_LINES);
    const text = `the ${this.name} ended (${how}); the end of ${logFile}:\n${tail.join('\n')}`;
    return new BigFleetError('unavailable', text);
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
