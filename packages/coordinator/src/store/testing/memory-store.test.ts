// Proves that the engine in memory behaves like an engine, that its faults are what they say, and
// that replicas on one disk lead one after the other.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import { storeBehaviour } from './behaviour.ts';
import { MemoryDisk } from './memory-disk.ts';
import { MemoryStore } from './memory-store.ts';

const runtime = realRuntime();

storeBehaviour({
  engine: 'memory',
  stage: () => {
    const disk = new MemoryDisk();
    return Promise.resolve({
      store: ({ bootstrap }) => new MemoryStore({ runtime, disk, bootstrap }),
      nowMs: () => runtime.clock.monotonicMs(),
    });
  },
});

const never = new AbortController().signal;

function virtual(): VirtualRuntime {
  return createVirtualRuntime({ seed: 'memory', drain: drainMicrotasks });
}

test('the second replica leads when the first crashed, under a higher term', async () => {
  const { runtime: time } = virtual();
  const disk = new MemoryDisk();
  const first = new MemoryStore({ runtime: time, disk, nodeId: 'n0' });
  const second = new MemoryStore({ runtime: time, disk, nodeId: 'n1' });
  const { term, lost } = await first.campaign(never);
  const waiting = second.campaign(never);
  assert.equal((await second.leader())?.nodeId, 'n0');
  first.crash();
  assert.equal(lost.aborted, true);
  assert.ok((await waiting).term > term);
  assert.equal((await second.leader())?.nodeId, 'n1');
  assert.throws(() => void first.status(), { code: 'coordinator_store_closed' });
});

test('an edit behind the back of the leader is noticed', async () => {
  const disk = new MemoryDisk();
  const store = new MemoryStore({ runtime, disk });
  const leadership = await store.campaign(never);
  await store.load(leadership);
  disk.put({ table: 'shards', key: 'shards/a', value: '{}' });
  const result = await store.commit(leadership, {
    expectedIndex: 0,
    commandId: 'c',
    change: {
      writes: [{ kind: 'delete', table: 'shards', key: 'shards/a' }],
      reads: [],
      gc: [],
      assignmentRevision: 0,
      ledgerGeneration: 0,
    },
    deadlineMs: 0,
  });
  assert.deepEqual(result, { kind: 'refused', reason: 'row_moved' });
});
