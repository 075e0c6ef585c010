// The process around a command, as an argument: what it prints and how it is asked to stop.

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
}

const STDOUT = 1;
const STDERR = 2;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FORCED_EXIT_CODE = 130;

export const nodeProcess: ProcessPort = {
  nodeVersion: process.versions.node,
  env: process.env,
  // Synchronous: the process may end right after, and a pipe would lose an asynchronous write.
  writeOutput: (text) => writeFully(STDOUT, text),
  writeError: (text) => writeFully(STDERR, text),
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
};

function writeFully(descriptor: number, text: string): void {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
}
