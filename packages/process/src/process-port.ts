// The process around a command, as an argument: what it prints and how it is asked to stop. Tests pass
// a port of their own and never touch the real streams and signals.

import { writeSync } from 'node:fs';

export interface ProcessPort {
  readonly nodeVersion: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  writeOutput(text: string): void;
  writeError(text: string): void;
  /** Resolves with the first SIGTERM or SIGINT; a second one ends the process at once. */
  stopSignal(): Promise<void>;
  /** SIGHUP: files were moved away. */
  onReopen(reopen: () => void): void;
  /** A bug that no component took: without this Node ends the process in the middle of its work. */
  onUnhandled(report: (error: unknown) => void): void;
}

const RETRY_MS = 5;
const waitingRoom = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
const STDOUT = 1;
const STDERR = 2;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FORCED_EXIT_CODE = 130;
/** What a shell reports of a command that SIGPIPE ended. */
const READER_GONE_EXIT_CODE = 141;

export const nodeProcess: ProcessPort = {
  nodeVersion: process.versions.node,
  env: process.env,
  writeOutput: (text) => {
    // `| head` has seen enough: end like every other command of a pipe, without a complaint.
    if (writeFully(STDOUT, text) === 'reader-gone') process.exit(READER_GONE_EXIT_CODE);
  },
  writeError: (text) => void writeFully(STDERR, text),
  stopSignal: () =>
    new Promise<void>((resolve) => {
      let count = 0;
      const onSignal = (): void => {
        count += 1;
        if (count === 1) resolve();
        // Someone does not want to wait: what is on disk is safe against this.
        else process.exit(FORCED_EXIT_CODE);
      };
      for (const signal of SIGNALS) process.on(signal, onSignal);
    }),
  onReopen: (reopen) => {
    process.on('SIGHUP', reopen);
  },
  onUnhandled: (report) => {
    process.on('uncaughtException', report);
    process.on('unhandledRejection', report);
  },
};

export type Written = 'all' | 'reader-gone';

/**
 * Writes to a standard stream, all of it, before it returns: the process may end right after, and
 * an asynchronous write to a pipe would be lost. A slow reader (`| less`, `| jq`) is waited for, also
 * on a descriptor that another process made non-blocking: there the system says EAGAIN instead of
 * waiting itself. Whether a reader that is gone matters is the caller's to judge.
 */
export function writeFully(descriptor: number, text: string): Written {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(descriptor, rest));
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      if (code === 'EPIPE') return 'reader-gone';
      if (code !== 'EAGAIN') throw error;
      // Bound: the life of the reader. When it ends, the next try says EPIPE.
      Atomics.wait(waitingRoom, 0, 0, RETRY_MS);
    }
  }
  return 'all';
}
