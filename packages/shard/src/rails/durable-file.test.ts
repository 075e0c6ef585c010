// Proves that the real file is replaced whole, is private, and that a failed write leaves the old
// content.

import assert from 'node:assert/strict';
import {
  type FileHandle,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  rm,
  stat,
} from 'node:fs/promises';
import { platform, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type DurableFile, durableFile } from './durable-file.ts';

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

/** Which descriptors are synced, and what the file says at that moment. Linux only. */
async function syncsDuring(
  t: TestContext,
  file: DurableFile,
  work: () => Promise<void>,
): Promise<readonly (readonly [string, string | undefined])[]> {
  const handle = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const synced: [string, string | undefined][] = [];
  const { sync } = prototype;
  const spy = t.mock.method(prototype, 'sync', async function (this: FileHandle) {
    synced.push([basename(await readlink(`/proc/self/fd/${this.fd}`)), await file.read()]);
    await sync.call(this);
  });
  await work();
  spy.mock.restore();
  return synced;
}

test('the content is on disk before it gets the name, and the name before the call ends', {
  skip: platform() !== 'linux',
}, async (t) => {
  const folder = await directory(t);
  const file = durableFile(join(folder, 'state.json'));
  await file.replace('old');
  assert.deepEqual(await syncsDuring(t, file, () => file.replace('new')), [
    ['state.json.tmp', 'old'],
    [basename(folder), 'new'],
  ]);
});
