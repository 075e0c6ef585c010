// Which Debian packages the toolkit needs and whether their commands are here. Missing ones are
// an error that says exactly what to run, never a skip: a suite that quietly tests less than it
// says is worse than a red one. debian-packages.txt is the list; this file only knows which
// commands each package brings, because a machine may have them from elsewhere.

import { accessSync, constants, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const LIST_URL = new URL('./debian-packages.txt', import.meta.url);

export const INSTALL_COMMAND = 'sudo make deps';

/** Administrative commands are often off the PATH of an ordinary user. */
const EXTRA_DIRS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

export const COMMANDS_OF_PACKAGE: Readonly<Record<string, readonly string[]>> = {
  'etcd-server': ['etcd'],
  prometheus: ['prometheus', 'promtool'],
  iproute2: ['ip', 'bridge'],
  chromium: ['chromium'],
};

export interface MissingCommand {
  readonly package: string;
  readonly command: string;
}

export function parsePackageList(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '');
}

export function listedPackages(): readonly string[] {
  return parsePackageList(readFileSync(LIST_URL, 'utf8'));
}

export function missingCommands(
  packages: readonly string[] = listedPackages(),
): readonly MissingCommand[] {
  return packages.flatMap((name) =>
    (COMMANDS_OF_PACKAGE[name] ?? [])
      .filter((command) => findCommand(command) === undefined)
      .map((command) => ({ package: name, command })),
  );
}

/** The full path of a command; throws with the one line to run when it is not installed. */
export function requireCommand(command: string): string {
  const path = findCommand(command);
  if (path !== undefined) return path;
  const owner = Object.entries(COMMANDS_OF_PACKAGE).find(([, all]) => all.includes(command))?.[0];
  throw new Error(
    `${command} (Debian package ${owner ?? 'unknown'}) is missing; run: ${INSTALL_COMMAND}`,
  );
}

export function findCommand(command: string): string | undefined {
  const dirs = [...(process.env['PATH'] ?? '').split(delimiter), ...EXTRA_DIRS];
  return dirs
    .filter((dir) => dir !== '')
    .map((dir) => join(dir, command))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    // Not there or not for us: the same answer to the question asked.
    return false;
  }
}
