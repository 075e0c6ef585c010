// Proves that offering only queues, that free workers and the queue hold exactly so much, that a hold
// between an offer and its turn leaves nothing begun, and that providers share neither workers nor
// places: one that throttles or hangs costs the others nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ActionKind } from '@bigfleet/engine';
import type { ActionOrder, Execution } from './execution.ts';
import { ExecutePool } from './pool.ts';
import type { SlowDown } from './provider-pace.ts';

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
  const ends: ((execution?: Execution) => void)[] = [];
  const throttled: { provider: string; slowDown: SlowDown | undefined }[] = [];
  const dropped: string[] = [];
  const rooms: number[] = [];
  const pool = new ExecutePool({
    runtime: time.runtime,
    concurrency: CONCURRENCY,
    providerOf: ({ cluster }) => cluster,
    run: ({ machineId }) => {
      begun.push(machineId);
      return new Promise((resolve) => ends.push((execution = 'success') => resolve(execution)));
    },
    onDone: () => {},
    onThrottled: (provider, slowDown) => throttled.push({ provider, slowDown }),
    onDropped: ({ machineId }) => dropped.push(machineId),
    onRoom: () => rooms.push(time.nowMs),
  });
  const end = async (machineId: string, execution: Execution = 'success'): Promise<void> => {
    const at = begun.indexOf(machineId);
    assert.ok(at >= 0, `${machineId} was not begun`);
    ends[at]?.(execution);
    await time.runFor(0);
  };
  return { time, pool, begun, ends, end, throttled, dropped, rooms };
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

/** Of the provider `p` or another; tests tell them apart by the cluster of the order. */
function orderOf(provider: string, at: number): ActionOrder {
  return { ...order(at), machineId: `${provider}${at}`, cluster: provider };
}

test('a provider that hangs takes no worker and no place of another', async () => {
  const { time, pool, begun } = opened();
  const offered = (provider: string): number =>
    Array.from({ length: 9 }, (_, at) => pool.offer(orderOf(provider, at))).filter(Boolean).length;
  assert.equal(offered('p'), 3 * CONCURRENCY);
  await time.runFor(10_000);
  assert.equal(offered('q'), 3 * CONCURRENCY);
  await time.runFor(0);
  assert.deepEqual(begun, ['p0', 'p1', 'q0', 'q1']);
});

test('throttled: its queue is cut to its window, it pauses, and the other goes on', async () => {
  const { time, pool, begun, end, throttled, dropped } = opened();
  const orders = Array.from({ length: 6 }, (_, at) => orderOf('p', at));
  for (const each of orders) pool.offer(each);
  pool.offer({ ...orderOf('p', 9), isDrainDue: true });
  await time.runFor(0);
  for (const each of orders.slice(0, 2)) pool.throttled(each);
  assert.deepEqual(
    throttled.map(({ slowDown }) => slowDown?.window),
    [1, undefined],
  );
  assert.deepEqual(dropped, ['p4', 'p5'], 'two windows of one wait');
  await end('p0', 'put_off');
  await end('p1', 'put_off');
  assert.deepEqual(begun, ['p0', 'p1'], 'it pauses');
  assert.equal(pool.windowOf('p'), 1);
  assert.equal(pool.windowOf('q'), CONCURRENCY);
  pool.offer(orderOf('q', 0));
  await time.runFor(0);
  assert.deepEqual(begun, ['p0', 'p1', 'q0']);
  await time.runFor(1_000);
  assert.deepEqual(begun, ['p0', 'p1', 'q0', 'p2'], 'one at a time from here on');
});

test('a drain that is due keeps its place when the queue is cut', async () => {
  const { time, pool, dropped } = opened();
  const orders = Array.from({ length: 5 }, (_, at) => orderOf('p', at));
  for (const each of orders) pool.offer(each);
  pool.offer({ ...orderOf('p', 9), isDrainDue: true });
  await time.runFor(0);
  pool.throttled(orders[0] as ActionOrder);
  assert.deepEqual(dropped, ['p4']);
  assert.equal(pool.queuedCount, 3);
});

test('accepted after refusals: a cycle is asked for, and the window widens', async () => {
  const { time, pool, begun, end, rooms } = opened();
  const orders = [0, 1].map((at) => orderOf('p', at));
  for (const each of orders) pool.offer(each);
  await time.runFor(0);
  pool.throttled(orders[0] as ActionOrder);
  await end('p0', 'put_off');
  await end('p1', 'put_off');
  const probe = orderOf('p', 2);
  pool.offer(probe);
  await time.runFor(1_000);
  assert.deepEqual([begun.at(-1), rooms.length], ['p2', 0]);
  pool.accepted(probe);
  assert.deepEqual([rooms.length, pool.windowOf('p')], [1, CONCURRENCY]);
});

test('held in a pause, nothing begins at its end; closed in one, no timer is left', async () => {
  const { time, pool, begun, end } = opened();
  const orders = [0, 1, 2, 3].map((at) => orderOf('p', at));
  for (const each of orders) pool.offer(each);
  await time.runFor(0);
  pool.throttled(orders[0] as ActionOrder);
  pool.hold(() => true);
  await time.runFor(5_000);
  assert.deepEqual(begun, ['p0', 'p1']);
  pool.release();
  await end('p0', 'put_off');
  await end('p1', 'put_off');
  pool.throttled(orders[2] as ActionOrder);
  await end('p2', 'put_off');
  const closing = pool.close(new AbortController().signal);
  assert.equal(pool.offer(orderOf('q', 0)), false);
  await time.runFor(0);
  assert.deepEqual(
    (await closing).map(({ machineId }) => machineId),
    ['p3'],
  );
  assert.deepEqual([pool.runningCount, time.pendingTimers], [0, 0]);
});

const refills: readonly (readonly [string, Execution, number])[] = [
  ['advance', 'success', 1],
  ['are on their way', { underWay: 2 }, 1],
  ['end without effect', 'no_session', 0],
  ['are put off', 'put_off', 0],
];
for (const [what, execution, count] of refills) {
  test(`turned away while actions ${what}: ${count} cycles are asked for when half is done`, async () => {
    const { time, pool, end, rooms } = opened();
    for (let at = 0; at < 7; at++) pool.offer(orderOf('p', at));
    await time.runFor(0);
    for (let at = 0; at < 2; at++) await end(`p${at}`, execution);
    assert.equal(rooms.length, count, 'half of the places are free');
    for (let at = 2; at < 6; at++) await end(`p${at}`, execution);
    assert.equal(rooms.length, count, 'once per refill');
  });
}

test('nobody was turned away: no cycle is asked for', async () => {
  const { time, pool, end, rooms } = opened();
  for (let at = 0; at < 6; at++) pool.offer(orderOf('p', at));
  await time.runFor(0);
  for (let at = 0; at < 6; at++) await end(`p${at}`);
  assert.equal(rooms.length, 0);
});
