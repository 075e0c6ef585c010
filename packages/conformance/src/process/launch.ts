// How a provider process is started: a provider of this repository by its name, any command with
// placeholders, the reference fault provider. A launch is a value; boot.ts runs it.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export interface BootArguments {
  /** `127.0.0.1:port`. */
  readonly address: string;
  readonly seedCount: number;
  /** A path of its own that survives reboots; absent: memory only. */
  readonly statePath?: string | undefined;
}

export interface Command {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

export interface Launch {
  /** For reports and messages. */
  readonly name: string;
  /** A command with `{state}`: it gets one wherever a lane does not ask for memory itself. */
  readonly prefersState: boolean;
  command(boot: BootArguments): Command;
}

/** Run by the shell, so that quoting is the shell's own. */
export function startCommandLaunch(text: string, cwd: string): Launch {
  return {
    name: 'start-cmd',
    prefersState: text.includes('{state}'),
    command: ({ address, statePath, seedCount }) => ({
      file: '/bin/sh',
      args: [
        '-c',
        (statePath === undefined ? withoutState(text) : text.replaceAll('{state}', statePath))
          .replaceAll('{addr}', address)
          .replaceAll('{seed}', String(seedCount)),
      ],
      cwd,
    }),
  };
}

/** A word that is nothing but the placeholder stays a word, or `--state` would take the next flag. */
function withoutState(text: string): string {
  return text.replaceAll(/(?<=^|\s){state}(?=\s|$)/g, "''").replaceAll('{state}', '');
}

/** `hostLabel` is `--provider` of the process: what it stamps into HostRef. */
export function repositoryLaunch(
  root: string,
  name: string,
  hostLabel: string,
  flags: readonly string[] = [],
): Launch {
  const own = [
    `--provider=${hostLabel}`,
    '--use-fake-backend',
    // Several are booted side by side, and they would fight for the default port.
    '--metrics-addr=',
    ...flags,
  ];
  return { name, prefersState: false, command: nodeCommand(providerMain(root, name), root, own) };
}

function nodeCommand(main: string, cwd: string, flags: readonly string[]): Launch['command'] {
  return ({ address, statePath, seedCount }) => {
    const state = statePath === undefined ? [] : [`--state=${statePath}`];
    const args = [`--addr=${address}`, ...flags, `--seed-count=${seedCount}`, ...state];
    return { file: process.execPath, args: [main, ...args], cwd };
  };
}

/** The entry point of a provider of this repository; the file need not exist. */
export function providerMain(root: string, name: string): string {
  return path.join(root, 'providers', name, 'src', 'main.ts');
}

const faultProviderMain: string = fileURLToPath(
  new URL('../../testing/fault-provider/main.ts', import.meta.url),
);

/** Absent from the published package: there, the fault lane needs an endpoint. */
export function hasFaultProvider(): boolean {
  return existsSync(faultProviderMain);
}

export function faultProviderLaunch(transitionTimeoutMs: number): Launch {
  const flags = ['--provider=fault', `--transition-timeout=${transitionTimeoutMs / 1000}s`];
  const command = nodeCommand(faultProviderMain, path.dirname(faultProviderMain), flags);
  return { name: 'reference fault provider', prefersState: false, command };
}
