// Proves that offering only queues, that free workers and the queue hold exactly so much, and that a
// hold between an offer and its turn leaves nothing begun.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ActionKind } from '@bigfleet/engine';
import type { ActionOrder } from './order.ts';
import { ExecutePool } from './pool.ts';

const CONCURRENCY = 2;

function order(at: number): ActionOrder {
  return {
    kind: ActionKind.Delete,
    handle: { slot: at, generation: 0 },
    machineId: `m${at}`,
    cluster: '',
    need: undefined,
    graceSeconds: 0,
    preemptorPriority: 0,
    reason: 'phase3.release',
    cycle: 1,
  };
}

function opened() {
  const time = createVirtualRuntime({ seed: 'pool', drain: drainMicrotasks });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const pool = new ExecutePool({
    runtime: time.runtime,
    concurrency: CONCURRENCY,
    run: ({ machineId }) => {
      begun.push(machineId);
      return new Promise((resolve) => ends.push(() => resolve('success')));
    },
    onDone: () => {},
  });
  return { time, pool, begun, ends };
}

test('an offer queues, and workers take what was offered in a later turn', async () => {
  const { time, pool, begun } = opened();
  assert.deepEqual(
    [0, 1, 2].map((at) => pool.offer(order(at))),
    [true, true, true],
  );
  assert.deepEqual([begun.length, pool.queuedCount, pool.runningCount], [0, 3, 0]);
  await time.runFor(0);
  assert.deepEqual(begun, ['m0', 'm1']);
  assert.deepEqual([pool.queuedCount, pool.runningCount], [1, 2]);
});

test('room is for twice the workers, and for each worker that is free', async () => {
  const { time, pool, begun, ends } = opened();
  const offers = (from: number): number =>
    Array.from({ length: 9 }, (_, at) => pool.offer(order(from + at))).filter(Boolean).length;
  assert.equal(offers(0), 3 * CONCURRENCY, 'all free');
  await time.runFor(0);
  assert.equal(offers(10), 0, 'all taken and the queue full');
  ends[0]?.();
  await time.runFor(0);
  assert.deepEqual(begun, ['m0', 'm1', 'm2'], 'who ends takes the next at once');
  assert.equal(offers(20), 1);
});

test('held before the turn, nothing begins; released, it does', async () => {
  const { time, pool, begun } = opened();
  pool.offer(order(0));
  pool.offer({ ...order(1), isDrainDue: true });
  const dropped = pool.hold(({ isDrainDue }) => isDrainDue === true);
  assert.deepEqual(
    dropped.map(({ machineId }) => machineId),
    ['m0'],
  );
  await time.runFor(0);
  assert.deepEqual(begun, []);
  assert.equal(pool.offer(order(2)), false);
  pool.release();
  assert.deepEqual(begun, ['m1']);
});
