// Proves that every process gets an epoch above all its predecessors', also after a crash at any
// step of the write, and that a file that cannot be trusted refuses the start.

import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { type DurableFile, durableFile } from '../rails/durable-file.ts';
import { FakeFile } from '../rails/testing/fake-file.ts';
import { nextEpoch } from './epoch.ts';

async function temporary(t: TestContext): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), 'bigfleet-epoch-'));
  t.after(() => rm(directory, { recursive: true }));
  return path.join(directory, 'epoch');
}

test('counts up from 1, on disk before it is returned, readable by its owner only', async (t) => {
  const file = await temporary(t);
  assert.equal(await nextEpoch(durableFile(file), 0n), 1n);
  assert.equal(await readFile(file, 'utf8'), '1\n');
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.equal(await nextEpoch(durableFile(file), 0n), 2n);
});

const floors: readonly (readonly [string | undefined, bigint, bigint])[] = [
  [undefined, 41n, 42n],
  ['7', 3n, 8n],
  ['7', 7n, 8n],
  ['7\n', 9n, 10n],
];
for (const [text, floor, expected] of floors) {
  test(`file ${JSON.stringify(text)} and floor ${floor} give ${expected}`, async () => {
    const file = new FakeFile(text);
    assert.equal(await nextEpoch(file, floor), expected);
    assert.equal(file.text, `${expected}\n`);
  });
}

test('a crash after the temporary file, before the rename, costs nothing but the attempt', async (t) => {
  const file = await temporary(t);
  assert.equal(await nextEpoch(durableFile(file), 0n), 1n);
  // What a process leaves that died between write and rename: the next value, or half of it.
  for (const torn of ['2\n', '', 'x', '999999']) {
    const before = await nextEpoch(durableFile(file), 0n);
    await writeFile(`${file}.tmp`, torn);
    assert.equal(await nextEpoch(durableFile(file), 0n), before + 1n);
  }
});

for (const text of ['', '\n', ' 7', '7 8', '-1', '1.5', '0x10', 'seven', '9'.repeat(20)]) {
  test(`content ${JSON.stringify(text)} refuses the start and stays for inspection`, async () => {
    const file = new FakeFile(text);
    await assert.rejects(nextEpoch(file, 100n), isCode('epoch_corrupt'));
    assert.equal(file.text, text);
  });
}

test('the end of the numbers refuses the start', async () => {
  await assert.rejects(nextEpoch(new FakeFile(`${2n ** 63n - 1n}`), 0n), isCode('epoch_corrupt'));
});

test('an epoch that is not durable is no epoch', async () => {
  const file = new FakeFile('4');
  file.isFull = true;
  await assert.rejects(nextEpoch(file, 0n), isCode('epoch_unwritable'));
  const unreadable: DurableFile = new FakeFile('4');
  Object.assign(unreadable, { isUnreadable: true });
  await assert.rejects(nextEpoch(unreadable, 0n), isCode('epoch_corrupt'));
});

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof BigFleetError && error.code === code;
}
