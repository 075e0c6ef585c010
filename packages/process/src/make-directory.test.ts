// Proves that a directory is made with its parents, and that a place where none can be made is an
// error, also where Node's recursive mkdir never answers.

import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { makeDirectory, makeDirectorySync } from './make-directory.ts';

const WAYS: readonly (readonly [string, typeof makeDirectory])[] = [
  ['awaited', makeDirectory],
  ['at once', async (directory, mode) => makeDirectorySync(directory, mode)],
];
for (const [way, make] of WAYS) {
  test(`${way}: parents are made too, and making it again changes nothing`, async (context) => {
    const root = await mkdtemp(path.join(os.tmpdir(), 'make-directory-'));
    context.after(() => rm(root, { recursive: true }));
    const deep = path.join(root, 'a', 'b', 'c');
    await make(deep, 0o700);
    await make(deep, 0o700);
    assert.equal((await stat(deep)).mode & 0o777, 0o700);
  });

  test(`${way}: a file in the way is an error`, async (context) => {
    const root = await mkdtemp(path.join(os.tmpdir(), 'make-directory-'));
    context.after(() => rm(root, { recursive: true }));
    const file = path.join(root, 'file');
    await writeFile(file, '');
    await assert.rejects(make(path.join(file, 'below')), /ENOTDIR/);
  });

  const skip = os.platform() !== 'linux';
  test(`${way}: where the kernel makes none, it says so at once`, { skip }, () =>
    assert.rejects(make('/proc/bigfleet/records'), /ENOENT/),
  );
}
