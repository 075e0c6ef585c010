// Every process that the suite starts, so that none outlives it. Each child leads a process group
// of its own: a command that runs through a shell goes with all that it forked. The groups are
// killed by id, at the end of the run, on a signal, and when this process exits for any other
// reason than SIGKILL.

import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { orAborted, type Runtime, withDeadline } from '@bigfleet/base';
import type { Command } from './launch.ts';

const GONE_WITHIN_MS = 5_000;

export class Child {
  readonly logFile: string;
  /** Resolves with how it ended, once; never rejects. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  #end: string | undefined;

  constructor(child: ChildProcess, logFile: string) {
    this.#process = child;
    this.logFile = logFile;
    this.ended = new Promise((resolve) => {
      const end = (how: string): void => {
        this.#end ??= how;
        resolve(this.#end);
      };
      // Instead of `spawn`: the file does not exist or may not be executed.
      child.once('error', (error) => end(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) => {
        this.signalGroup();
        end(signal === null ? `exited with code ${code}` : `was ended by ${signal}`);
      });
    });
  }

  /** How it ended; undefined while it runs. */
  get end(): string | undefined {
    return this.#end;
  }

  /** SIGKILL to the whole group. */
  signalGroup(): void {
    const { pid } = this.#process;
    if (pid === undefined) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch (error) {
      // ESRCH: the group is gone already.
      if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
    }
  }
}

export class Children {
  readonly #running = new Set<Child>();
  readonly #runtime: Runtime;
  readonly #onExit = (): void => {
    for (const child of this.#running) child.signalGroup();
  };

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    process.on('exit', this.#onExit);
  }

  /** Output of both streams goes to `logFile`. */
  start(command: Command, logFile: string): Child {
    const log = openSync(logFile, 'a', 0o600);
    try {
      const spawned = spawn(command.file, command.args, {
        cwd: command.cwd,
        detached: true,
        stdio: ['ignore', log, log],
      });
      const child = new Child(spawned, logFile);
      this.#running.add(child);
      return child;
    } finally {
      closeSync(log);
    }
  }

  /** Resolves when it is gone. Idempotent. */
  async kill(child: Child): Promise<void> {
    if (child.end === undefined) child.signalGroup();
    const deadline = withDeadline(this.#runtime, GONE_WITHIN_MS);
    try {
      await orAborted(child.ended, deadline.signal);
      this.#running.delete(child);
    } finally {
      deadline.dispose();
    }
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#running].map((child) => this.kill(child)));
    process.off('exit', this.#onExit);
  }
}
