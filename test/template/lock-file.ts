// What an installation changed in package-lock.json, entry by entry.

import { readFileSync } from 'node:fs';
import path from 'node:path';

export type LockEntries = ReadonlyMap<string, string>;

/** Every package with its whole entry as text, and the rest of the file under ''. */
export function readLock(root: string): LockEntries {
  const text = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  const { packages, ...rest } = JSON.parse(text) as {
    readonly packages: Readonly<Record<string, unknown>>;
  };
  const entries = Object.entries(packages).map(([name, entry]): [string, string] => [
    name === '' ? 'root' : name,
    JSON.stringify(entry),
  ]);
  return new Map([['', JSON.stringify(rest)], ...entries]);
}

/** Names of the entries that were added, removed or altered. */
export function changedEntries(before: LockEntries, after: LockEntries): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => before.get(name) !== after.get(name)).sort();
}
