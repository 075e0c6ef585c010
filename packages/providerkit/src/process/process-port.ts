// The process around a provider, as an argument: what it prints and how it is asked to stop.

import { writeSync } from 'node:fs';
import type { LogSink } from '@bigfleet/telemetry';

export interface ProcessPort {
  readonly nodeVersion: string;
  writeOutput(text: string): void;
  writeError(text: string): void;
  /** Resolves with the first SIGTERM or SIGINT; a second one ends the process at once. */
  onStopSignal(): Promise<void>;
  /** Standard error when absent. */
  logSink?(): LogSink;
}

const STDOUT = 1;
const STDERR = 2;
const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
const FORCED_EXIT_CODE = 130;

export const nodeProcess: ProcessPort = {
  nodeVersion: process.versions.node,
  // Synchronous: the process may end right after, and a pipe would lose an asynchronous write.
  writeOutput: (text) => writeFully(STDOUT, text),
  writeError: (text) => writeFully(STDERR, text),
  onStopSignal: () =>
    new Promise<void>((resolve) => {
      let count = 0;
      const onSignal = (): void => {
        count += 1;
        if (count === 1) resolve();
        // Someone does not want to wait for the grace. The state is safe against this.
        else process.exit(FORCED_EXIT_CODE);
      };
      for (const signal of SIGNALS) process.on(signal, onSignal);
    }),
};

function writeFully(descriptor: number, text: string): void {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) rest = rest.subarray(writeSync(descriptor, rest));
}
