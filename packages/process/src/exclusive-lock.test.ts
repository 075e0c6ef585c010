// Proves that a lock lasts until it is released, also when its holder keeps nothing of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { realRuntime } from '@bigfleet/base/real';
import { exclusiveLock } from './exclusive-lock.ts';

test('a lock that nobody refers to is still held after a garbage collection', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bigfleet-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const files = Array.from({ length: 20 }, (_, at) => path.join(folder, `${at}.lock`));
  for (const file of files) assert.notEqual(exclusiveLock(file), 'held');
  // Weak callbacks of a collection run in a later turn.
  for (let turn = 0; turn < 5; turn += 1) {
    collect();
    await realRuntime().timers.turn();
  }
  for (const file of files) assert.equal(exclusiveLock(file), 'held');
});

test('a released lock is free', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'bigfleet-lock-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'a.lock');
  const first = exclusiveLock(file);
  assert.ok(first !== 'held');
  assert.equal(exclusiveLock(file), 'held');
  first.release();
  assert.notEqual(exclusiveLock(file), 'held');
});
