// Proves that each side of a comparison runs its own sources: workspace links must lead into the
// revision's tree, not back into the checkout.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { prepareTree, WORKING_TREE } from './revision-tree.ts';

let scratch = '';
let root = '';

beforeEach(() => {
  scratch = realpathSync(mkdtempSync(join(tmpdir(), 'bigfleet-tree-')));
  root = join(scratch, 'checkout');
  write('package-lock.json', '{}');
  write('.gitignore', 'node_modules/\n');
  write(
    'packages/base/package.json',
    '{"name":"@bigfleet/base","type":"module","exports":"./i.js"}',
  );
  write('packages/base/i.js', 'export const revision = "first";');
  write(
    'main.mjs',
    'import { revision } from "@bigfleet/base"; import { lib } from "lib"; import { kit } from "@other/kit"; process.stdout.write(revision + lib + kit);',
  );
  write('node_modules/lib/package.json', '{"name":"lib","type":"module","exports":"./i.js"}');
  write('node_modules/lib/i.js', 'export const lib = " lib";');
  write('node_modules/@other/kit/package.json', '{"type":"module","exports":"./i.js"}');
  write('node_modules/@other/kit/i.js', 'export const kit = " kit";');
  mkdirSync(join(root, 'node_modules/@bigfleet'));
  symlinkSync('../../packages/base', join(root, 'node_modules/@bigfleet/base'));
  git('init', '--quiet');
  commit('first');
  write('packages/base/i.js', 'export const revision = "second";');
  commit('second');
  write('packages/base/i.js', 'export const revision = "uncommitted";');
});

afterEach(() => rmSync(scratch, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function git(...args: readonly string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.invalid'];
  execFileSync('git', [...identity, ...args], { cwd: root, stdio: 'pipe' });
}

function commit(message: string): void {
  git('add', '--all');
  git('commit', '--quiet', '--no-gpg-sign', '--message', message);
}

function prepare(revision: string): string {
  const folder = join(scratch, `tree-${revision.replaceAll(/\W/g, '_')}`);
  return prepareTree({ root, revision, folder, progress: () => undefined });
}

function runMain(tree: string): string {
  return execFileSync(process.execPath, [join(tree, 'main.mjs')], { encoding: 'utf8' });
}

test('two revisions and the working tree each run their own code', () => {
  assert.equal(runMain(prepare('HEAD~1')), 'first lib kit');
  assert.equal(runMain(prepare('HEAD')), 'second lib kit');
  assert.equal(runMain(prepare(WORKING_TREE)), 'uncommitted lib kit');
});

test('the repository is left as it was', () => {
  prepare('HEAD~1');
  assert.equal(existsSync(join(root, '.git/worktrees')), false);
});

test('a revision that does not exist, or looks like an option, is refused', () => {
  for (const revision of ['nowhere', '--help', 'HEAD~9']) {
    assert.throws(() => prepare(revision), /no such revision/);
  }
});
