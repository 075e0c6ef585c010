// Proves under which codes a shard refuses a data directory.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { openDataDir } from './data-dir.ts';

test('one that is held, and one that cannot be made', async (t) => {
  const directory = await mkdtemp(path.join(tmpdir(), 'bigfleet-data-'));
  t.after(() => rm(directory, { recursive: true }));
  const held = openDataDir(directory);
  assert.throws(() => openDataDir(directory), isCode('data_dir_locked'));
  held.release();
  const file = path.join(directory, 'file');
  await writeFile(file, '');
  assert.throws(() => openDataDir(path.join(file, 'data')), isCode('data_dir_unusable'));
});

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof BigFleetError && error.code === code;
}
