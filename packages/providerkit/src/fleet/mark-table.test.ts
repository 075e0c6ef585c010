// Proves that marks are kept per pair and that the table says when it is full.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MarkTable } from './mark-table.ts';

test('pairs are apart, a newer mark replaces, and a replaced one takes no more room', () => {
  const table = new MarkTable();
  const set = (shardId: string, machineId: string, sequence: bigint): void =>
    table.set({ shardId, machineId, epoch: 1n, sequence });
  set('a', 'm', 1n);
  set('b', 'm', 2n);
  set('a', 'n', 3n);
  set('a', 'm', 9n);
  assert.deepEqual(table.get('a', 'm'), { shardEpoch: 1n, sequenceNumber: 9n });
  assert.deepEqual(table.get('b', 'm'), { shardEpoch: 1n, sequenceNumber: 2n });
  assert.deepEqual(table.get('a', 'n'), { shardEpoch: 1n, sequenceNumber: 3n });
  assert.equal(table.get('b', 'n'), undefined);
  for (let i = 0; i < 99_996; i++) set('a', `ghost-${i}`, 1n);
  assert.equal(table.hasRoom(0), true);
  set('a', 'last', 1n);
  assert.equal(table.hasRoom(0), false);
  assert.equal(table.hasRoom(1), true, 'more machines, more room');
});
