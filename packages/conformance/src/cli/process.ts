// Binds the command to the real process.

import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { allChecks } from '../behaviours/index.ts';
import type { ProgressSink } from '../report/progress.ts';
import { type ExitCode, runCommand } from './run.ts';

const FALLBACK_COLUMNS = 80;

export async function runFromProcess(): Promise<ExitCode> {
  const { signal, stop } = endedBySignals();
  try {
    return await runCommand({
      argv: process.argv.slice(2),
      env: process.env,
      cwd: process.cwd(),
      runtime: realRuntime(),
      checks: allChecks,
      stdout: standardOutput(),
      complain,
      signal,
    });
  } finally {
    stop();
  }
}

export function standardOutput(): ProgressSink {
  return {
    write: (text) => {
      process.stdout.write(text);
    },
    isTerminal: process.stdout.isTTY,
    columns: process.stdout.columns || FALLBACK_COLUMNS,
  };
}

export function complain(message: string): void {
  process.stderr.write(`bfconformance: ${message}\n`);
}

/** The first signal asks the run to end; the second ends the process. */
export function endedBySignals(): {
  readonly signal: AbortSignal;
  readonly stop: () => void;
} {
  const controller = new AbortController();
  const onSignal = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(2);
    controller.abort(new BigFleetError('cancelled', `interrupted by ${name}`));
  };
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const name of signals) process.on(name, onSignal);
  return {
    signal: controller.signal,
    stop: () => {
      for (const name of signals) process.off(name, onSignal);
    },
  };
}
