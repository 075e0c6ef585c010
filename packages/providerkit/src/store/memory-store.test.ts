// Proves that the memory store keeps its image for the next kit, applies each kind of change, and
// keeps pairs of ids apart whatever characters they hold.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordOf } from '../backend/instance-rules.ts';
import { slot } from '../testing/scenario/world.ts';
import { MemoryStore } from './memory-store.ts';

test('undefined before the first start, the whole image after', async () => {
  const store = new MemoryStore();
  assert.equal(await store.load(), undefined);
  await store.initialise('inc');
  const record = recordOf(slot('m-0'));
  const mark = { shardId: 's', machineId: 'm-0', epoch: 2n ** 63n - 1n, sequence: 3n };
  const operation = {
    machineId: 'm-0',
    kind: 'drain',
    operationId: 'op-1',
    gracePeriodSeconds: 9n,
  } as const;
  await store.commit([
    { kind: 'machine', record },
    { kind: 'machine', record: { ...record, id: 'm-1' } },
    { kind: 'fence', mark },
    { kind: 'operation', operation },
    { kind: 'revision', revision: 7 },
  ]);
  await store.commit([{ kind: 'machine-removed', machineId: 'm-1' }]);
  await store.close();
  assert.deepEqual(await store.load(), {
    incarnation: 'inc',
    revision: 7,
    machines: [record],
    fences: [mark],
    operations: [operation],
  });
});

test('ids that look alike when joined stay apart', async () => {
  const store = new MemoryStore();
  await store.initialise('inc');
  const pairs = [
    ['a', 'bc'],
    ['ab', 'c'],
    ['', 'abc'],
    ['1:a', 'b'],
    ['a\0', 'b'],
  ];
  for (const [shardId = '', machineId = ''] of pairs) {
    const mark = { shardId, machineId, epoch: 1n, sequence: 1n };
    await store.commit([{ kind: 'fence', mark }]);
  }
  assert.equal((await store.load())?.fences.length, pairs.length);
});
