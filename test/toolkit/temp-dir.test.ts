// Proves that a temporary directory is private, gone after its scope, and removable twice.

import assert from 'node:assert/strict';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createTempDir } from './temp-dir.ts';

test('a temporary directory lives as long as its scope', async () => {
  let path: string;
  {
    await using dir = createTempDir('scope');
    path = dir.path;
    assert.equal(statSync(path).mode & 0o777, 0o700);
    writeFileSync(join(path, 'file'), 'content');
  }
  assert.equal(existsSync(path), false);
});

test('two directories differ, and removing twice is harmless', async () => {
  const [one, two] = [createTempDir(), createTempDir()];
  assert.notEqual(one.path, two.path);
  await one.remove();
  await one.remove();
  assert.equal(existsSync(one.path), false);
  assert.equal(existsSync(two.path), true);
  await two.remove();
});
