// The process around a command, as an argument: what it prints and how it is asked to stop.

import { writeFully } from './write-fully.ts';

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
