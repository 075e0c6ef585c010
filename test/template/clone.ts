// This repository as a colleague would get it, uncommitted work included, in a temporary folder
// with an index of its own: what a command changed there is what git says. It has a parent folder
// to itself, for commands that put things beside it. Nothing of the working tree is linked into
// it, because npm writes through links.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, lstatSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createTempDir } from '../toolkit/index.ts';
import { NPM_INSTALL, runCommand } from './command.ts';

export const ROOT: string = path.join(import.meta.dirname, '../..');

/** Core stands without providers/ (decision 22): tests about them are then skipped, and say so. */
export const SKIP: { readonly skip: string | false } = {
  skip: existsSync(path.join(ROOT, 'providers')) ? false : 'there is no providers/ here',
};

const LIST_BYTES = 256 * 1024 * 1024;
const INSTALL_MS = 300_000;

export interface Clone extends AsyncDisposable {
  readonly path: string;
  /** For commands that a person types: the clone's own Node 24 comes first. */
  readonly env: Readonly<Record<string, string>>;
  install(): Promise<void>;
  /** Files that differ from the index, and files that it does not know. */
  changes(): readonly string[];
}

/** `without`: a top folder that is left out. */
export function cloneRepository(without?: string): Clone {
  const folder = createTempDir('clone');
  const root = path.join(folder.path, 'bigfleet');
  mkdirSync(root);
  const git = (args: readonly string[], cwd: string = root): string[] =>
    execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: LIST_BYTES })
      .split('\0')
      .filter((file) => file !== '');
  const files = git(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT);
  for (const file of files) {
    if (without === undefined || !file.startsWith(`${without}/`)) copyInto(root, file);
  }
  git(['init', '--quiet']);
  git(['add', '--all']);
  const bin = path.join(root, 'node_modules/.bin');
  return {
    path: root,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}` },
    install: async () => {
      await runCommand('npm', NPM_INSTALL, { cwd: root, withinMs: INSTALL_MS });
    },
    changes: () =>
      [
        ...git(['diff', '-z', '--name-only']),
        ...git(['ls-files', '-z', '--others', '--exclude-standard']),
      ].sort(),
    [Symbol.asyncDispose]: () => folder.remove(),
  };
}

function copyInto(root: string, file: string): void {
  const source = path.join(ROOT, file);
  // Deleted in the working tree, and still in its index.
  if (!existsSync(source) || !lstatSync(source).isFile()) return;
  const target = path.join(root, file);
  mkdirSync(path.dirname(target), { recursive: true });
  copyFileSync(source, target);
}
