// Proves that a data directory has one owner: a second is refused, also from another process, and
// the next gets it when the owner is gone, however it went.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { type DataDir, takeDataDir } from './data-dir.ts';

const HOLDER = `
  const { takeDataDir } = await import(process.argv[1]);
  takeDataDir({ directory: process.argv[2], lockName: 'x.lock', refuse: ({ kind }) => new Error(kind) });
  console.log('held');
  process.stdin.resume();
`;

function take(directory: string): DataDir {
  return takeDataDir({
    directory,
    lockName: 'x.lock',
    refuse: (refusal) => new Error(JSON.stringify(refusal)),
  });
}

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bigfleet-data-'));
  t.after(() => rm(directory, { recursive: true }));
  return path.join(directory, 'deep', 'data');
}

test('is made with its parents, for its owner only', async (t) => {
  const directory = await temporary(t);
  const dataDir = take(directory);
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
  assert.throws(() => take(directory), /"held","lockFile":".*x\.lock"/);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  take(directory).release();
});

test('within one process too, and releasing it frees it', async (t) => {
  const directory = await temporary(t);
  const first = take(directory);
  assert.throws(() => take(directory), /held/);
  first.release();
  take(directory).release();
});

test('a path that cannot be a directory is refused with its name', async (t) => {
  const directory = await temporary(t);
  take(directory).release();
  const file = path.join(directory, 'file');
  await writeFile(file, '');
  assert.throws(
    () => take(path.join(file, 'data')),
    /unusable.*file\/data cannot be made.*ENOTDIR/,
  );
});

test('a lock file that cannot be one is refused with its name', async (t) => {
  const directory = await temporary(t);
  take(directory).release();
  await rm(path.join(directory, 'x.lock'));
  take(path.join(directory, 'x.lock')).release();
  assert.throws(() => take(directory), /unusable.*x\.lock cannot be locked/);
});
