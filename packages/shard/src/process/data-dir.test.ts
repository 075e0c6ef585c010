// Proves that a data directory has one owner: a second is refused, also from another process, and
// the next gets it when the owner is gone, however it went.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { openDataDir } from './data-dir.ts';

const HOLDER = `
  const { openDataDir } = await import(process.argv[1]);
  await openDataDir(process.argv[2]);
  console.log('held');
  process.stdin.resume();
`;

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bigfleet-data-'));
  t.after(() => rm(directory, { recursive: true }));
  return path.join(directory, 'deep', 'data');
}

test('is made with its parents, for its owner only', async (t) => {
  const directory = await temporary(t);
  const dataDir = await openDataDir(directory);
  assert.equal((await stat(directory)).mode & 0o777, 0o700);
  assert.equal(dataDir.at('epoch'), path.join(directory, 'epoch'));
  dataDir.release();
});

test('a process that holds it keeps others out until it is killed', async (t) => {
  const directory = await temporary(t);
  const module = new URL('./data-dir.ts', import.meta.url).href;
  const holder = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, module, directory]);
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  await assert.rejects(openDataDir(directory), isCode('data_dir_locked'));
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  (await openDataDir(directory)).release();
});

test('a path that cannot be a directory is refused with its name', async (t) => {
  const directory = await temporary(t);
  (await openDataDir(directory)).release();
  const file = path.join(directory, 'file');
  await writeFile(file, '');
  await assert.rejects(openDataDir(path.join(file, 'data')), isCode('data_dir_unusable'));
});

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof BigFleetError && error.code === code;
}
