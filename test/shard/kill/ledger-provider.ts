// Starts ledger-provider-main.ts as a process.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type RunningProcess, startProcess } from '../../toolkit/index.ts';

const MAIN = fileURLToPath(new URL('./ledger-provider-main.ts', import.meta.url));
const SERVING = / msg="serving CapacityProvider" .* addr=(\S+) /;

export interface LedgerProviderOptions {
  /** Holds its state, and `effects`. */
  readonly folder: string;
  readonly addr?: string;
  readonly machineCount: number;
}

export interface LedgerProvider extends AsyncDisposable {
  readonly process: RunningProcess;
  readonly address: string;
  /** A line per effect. */
  readonly effects: string;
}

export async function startLedgerProvider(options: LedgerProviderOptions): Promise<LedgerProvider> {
  const { folder, addr = '127.0.0.1:0', machineCount } = options;
  const effects = path.join(folder, 'effects');
  const child = await startProcess({
    name: 'provider',
    command: process.execPath,
    args: [
      MAIN,
      '--use-fake-backend',
      `--addr=${addr}`,
      '--metrics-addr=127.0.0.1:0',
      `--state=${path.join(folder, 'ledger.json')}`,
      `--seed-count=${machineCount}`,
      `--effects=${effects}`,
      '--work=40ms',
    ],
    ready: { kind: 'line', pattern: SERVING },
  });
  const [, address = ''] = await child.waitForLine(SERVING);
  return {
    process: child,
    address,
    effects,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
