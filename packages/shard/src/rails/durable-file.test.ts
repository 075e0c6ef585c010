// Proves that the real file is replaced whole, is private, and that a failed write leaves the old
// content.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { durableFile } from './durable-file.ts';

async function directory(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bigfleet-durable-'));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

test('absent, written, replaced; mode 0600; nothing left beside it', async (t) => {
  const folder = await directory(t);
  const file = durableFile(join(folder, 'state.json'));
  assert.equal(await file.read(), undefined);
  await file.replace('one, which is longer');
  await file.replace('two');
  assert.equal(await file.read(), 'two');
  assert.equal((await stat(file.path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder), ['state.json']);
});

test('a write that fails leaves what was there', async (t) => {
  const folder = await directory(t);
  const file = durableFile(join(folder, 'state.json'));
  await file.replace('good');
  // The temporary file cannot be opened for writing.
  await mkdir(join(folder, 'state.json.tmp'));
  await assert.rejects(file.replace('bad'), { code: 'EISDIR' });
  assert.equal(await file.read(), 'good');
});

test('a torn temporary file of a crashed process is ignored and replaced', async (t) => {
  const folder = await directory(t);
  const file = durableFile(join(folder, 'state.json'));
  await file.replace('good');
  await durableFile(join(folder, 'state.json.tmp')).replace('torn by a crash before the rename');
  assert.equal(await file.read(), 'good');
  await file.replace('new');
  assert.equal(await file.read(), 'new');
});
