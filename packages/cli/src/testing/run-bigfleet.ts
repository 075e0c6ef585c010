// Commands as a process would run them, with what they print kept, under virtual time unless a test needs
// the real one. Nobody stops them.

import { createVirtualRuntime, type Runtime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { runBigfleet } from '../bigfleet.ts';
import type { CommandContext } from '../command.ts';

export interface Ran {
  readonly code: number;
  readonly output: string;
  readonly error: string;
}

export interface RunOptions {
  readonly nodeVersion?: string;
  readonly runtime?: Runtime;
}

/** `bigfleet`. */
export function runCommand(argv: readonly string[], options: RunOptions = {}): Promise<Ran> {
  return ran((context) => runBigfleet([...argv], context), options);
}

export async function ran(
  run: (context: CommandContext) => Promise<number>,
  { nodeVersion = '24.1.0', runtime = virtual() }: RunOptions,
): Promise<Ran> {
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
  return { code: await run({ runtime, port }), ...printed };
}

function virtual(): Runtime {
  return createVirtualRuntime({ seed: 'cli', drain: drainMicrotasks }).runtime;
}
