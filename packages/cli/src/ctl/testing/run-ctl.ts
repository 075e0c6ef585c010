// Runs bigfleetctl in this process and keeps what it printed. The wall clock stands still, so that
// ages in golden files do not move; timers and deadlines are real.

import type { Runtime } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { runBigfleetctl } from '../bigfleetctl.ts';
import { grpcNetwork, type Network } from '../connect/network.ts';

/** 2026-01-01T12:00:00Z. */
export const NOW_UNIX_NANOS = 1_767_268_800_000_000_000n;

export interface RunOptions {
  readonly network?: Network;
  readonly runtime?: Runtime;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
  readonly home?: string;
  readonly stopSignal?: Promise<void>;
  readonly onOutput?: (text: string) => void;
}

export interface RunResult {
  readonly code: number;
  readonly output: string;
  readonly error: string;
}

const real = realRuntime();

function standingClock(): Runtime {
  const monotonicMs = (): number => real.clock.monotonicMs();
  return { ...real, clock: { monotonicMs, unixNanos: () => NOW_UNIX_NANOS } };
}

export async function runCtl(
  argv: readonly string[],
  options: RunOptions = {},
): Promise<RunResult> {
  const printed = { output: '', error: '' };
  const port = {
    nodeVersion: '24.1.0',
    env: options.env ?? {},
    writeOutput: (text: string) => {
      printed.output += text;
      options.onOutput?.(text);
    },
    writeError: (text: string) => void (printed.error += text),
    stopSignal: () => options.stopSignal ?? new Promise<void>(() => {}),
    onReopen: () => {},
    onUnhandled: () => {},
    isTerminal: options.isTerminal ?? false,
    terminalSize: () => ({ rows: 24, columns: 80 }),
    home: options.home ?? '/nowhere',
  };
  const context = {
    runtime: options.runtime ?? standingClock(),
    port,
    network: options.network ?? grpcNetwork(real),
  };
  return { code: await runBigfleetctl(argv, context), ...printed };
}
