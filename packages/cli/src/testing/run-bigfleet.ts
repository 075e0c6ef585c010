// `bigfleet` as a process would run it, with what it prints kept, under virtual time unless a test
// needs the real one. Nobody stops it.

import { createVirtualRuntime, type Runtime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { runBigfleet } from '../bigfleet.ts';

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly error: string;
}

export interface RunOptions {
  readonly nodeVersion?: string;
  readonly runtime?: Runtime;
}

export async function runCommand(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { nodeVersion = '24.1.0', runtime = virtual() } = options;
  const printed = { output: '', error: '' };
  const port = {
    nodeVersion,
    env: {},
    writeOutput: (text: string) => void (printed.output += text),
    writeError: (text: string) => void (printed.error += text),
    stopSignal: () => new Promise<void>(() => {}),
    onReopen: () => {},
    onUnhandled: () => {},
  };
  return { code: await runBigfleet([...argv], { runtime, port }), ...printed };
}

function virtual(): Runtime {
  return createVirtualRuntime({ seed: 'cli', drain: drainMicrotasks }).runtime;
}
