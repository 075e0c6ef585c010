// Runs a command to its end, as a person at a prompt would: with the environment of this process
// (how npm reaches its registry is written there), a deadline, and the output in the failure.

import assert from 'node:assert/strict';
import { describeExit, startProcess } from '../toolkit/index.ts';

export interface CommandOptions {
  readonly cwd: string;
  /** A hang guard unless told. */
  readonly withinMs?: number;
  readonly env?: Readonly<Record<string, string>>;
}

/** Asks the cache first: the test is about our tree, not about the network. */
export const NPM_INSTALL: readonly string[] = [
  'install',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
];

/** Its output; fails unless it exits with 0. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, withinMs, env = {} }: CommandOptions,
): Promise<string> {
  const name = [command, ...args].join(' ');
  await using child = await startProcess({
    name,
    command,
    args,
    cwd,
    env: { ...ownEnvironment(), ...env },
  });
  child.closeInput();
  const exit = await child.waitExit(withinMs);
  const output = child.output.text();
  assert.ok(exit.kind === 'code' && exit.code === 0, `${name}: ${describeExit(exit)}\n${output}`);
  return output;
}

/** Without what the test runner tells its children: a `node --test` inside would report to it. */
export function ownEnvironment(): Readonly<Record<string, string>> {
  const entries = Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
    value === undefined || name.startsWith('NODE_TEST') ? [] : [[name, value]],
  );
  return Object.fromEntries(entries);
}
