// A revision's sources in a folder of their own, ready to run. Taken with `git archive`, which
// changes nothing in the repository, so compare mode is safe beside other work.
//
// Dependencies come from this checkout's node_modules, linked one by one. Linking the folder as a
// whole would be wrong without a sound: its workspace links (@bigfleet/…) lead back into this
// checkout, and both sides would run the same code. A revision with another lock file gets its
// own `npm ci`.

import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
} from 'node:fs';
import { isAbsolute, join, resolve, sep } from 'node:path';

const MAX_ARCHIVE_BYTES = 2 ** 30;
const GIT_TIMEOUT_MS = 120_000;
const INSTALL_TIMEOUT_MS = 900_000;

/** The working tree as it is, uncommitted changes included. */
export const WORKING_TREE = '.';

export interface TreeOptions {
  readonly root: string;
  readonly revision: string;
  readonly folder: string;
  readonly progress: (line: string) => void;
}

/** Returns the folder that holds the revision: `folder`, or `root` for the working tree. */
export function prepareTree({ root, revision, folder, progress }: TreeOptions): string {
  if (revision === WORKING_TREE) return root;
  const commit = resolveCommit(root, revision);
  mkdirSync(folder, { recursive: true });
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    cwd: root,
    maxBuffer: MAX_ARCHIVE_BYTES,
    timeout: GIT_TIMEOUT_MS,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive, timeout: GIT_TIMEOUT_MS });
  if (sameFile(join(root, 'package-lock.json'), join(folder, 'package-lock.json'))) {
    linkDependencies(root, folder);
  } else {
    progress(`${revision} has other dependencies: npm ci`);
    execFileSync('npm', ['ci'], {
      cwd: folder,
      stdio: ['ignore', 2, 2],
      timeout: INSTALL_TIMEOUT_MS,
    });
  }
  return folder;
}

function resolveCommit(root: string, revision: string): string {
  if (revision.startsWith('-')) throw new Error(`no such revision: ${revision}`);
  const args = ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`];
  try {
    const options = { cwd: root, encoding: 'utf8', timeout: GIT_TIMEOUT_MS } as const;
    return execFileSync('git', args, options).trim();
  } catch (cause) {
    throw new Error(`no such revision: ${revision}`, { cause });
  }
}

function sameFile(left: string, right: string): boolean {
  if (!existsSync(left) || !existsSync(right)) return existsSync(left) === existsSync(right);
  return readFileSync(left).equals(readFileSync(right));
}

/** Every entry of node_modules, scoped ones opened up; workspaces point into the new tree. */
function linkDependencies(root: string, folder: string): void {
  const from = join(root, 'node_modules');
  const to = join(folder, 'node_modules');
  if (!existsSync(from)) return;
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(from)) {
    if (name.startsWith('@')) {
      mkdirSync(join(to, name), { recursive: true });
      for (const inner of readdirSync(join(from, name))) linkOne(root, from, to, join(name, inner));
    } else {
      linkOne(root, from, to, name);
    }
  }
}

function linkOne(root: string, from: string, to: string, name: string): void {
  const source = join(from, name);
  const workspace = workspaceTarget(root, source);
  symlinkSync(workspace ?? source, join(to, name));
}

/** The relative link text when an entry leads to a workspace of the checkout, else undefined. */
function workspaceTarget(root: string, entry: string): string | undefined {
  if (!lstatSync(entry).isSymbolicLink()) return undefined;
  const text = readlinkSync(entry);
  const target = resolve(entry, '..', text);
  const inside = target.startsWith(`${root}${sep}`);
  const installed = target.startsWith(`${join(root, 'node_modules')}${sep}`);
  if (!inside || installed) return undefined;
  if (isAbsolute(text)) throw new Error(`workspace link ${entry} is absolute: run npm ci`);
  return text;
}
