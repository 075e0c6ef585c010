// Proves that writes keep to the owner's budget, and that no lane starves another.

import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import test from 'node:test';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { type WriteLane, WriteLanes } from './lanes.ts';

interface Stage {
  readonly time: VirtualRuntime;
  readonly lanes: WriteLanes;
  /** How many writes of each lane went out. */
  readonly sent: Map<WriteLane, number>;
  readonly flood: (lane: WriteLane, count: number) => void;
}

function stage(): Stage {
  const time = createVirtualRuntime({ seed: '1', drain: drainMicrotasks });
  const lanes = new WriteLanes({ runtime: time.runtime, qps: 50, burst: 100 });
  const sent = new Map<WriteLane, number>();
  const { signal } = new AbortController();
  const flood = (lane: WriteLane, count: number): void => {
    for (let i = 0; i < count; i++) {
      void lanes.enter(lane, signal).then(
        () => sent.set(lane, (sent.get(lane) ?? 0) + 1),
        (error: unknown) => assert.fail(String(error)),
      );
    }
  };
  return { time, lanes, sent, flood };
}

test('a burst goes out at once, the rest at the rate', async () => {
  const { time, sent, flood } = stage();
  flood('node', 400);
  await time.runFor(1);
  assert.equal(sent.get('node'), 100);
  await time.runFor(2_000);
  assert.equal(sent.get('node'), 200);
  await time.runFor(10_000);
  assert.equal(sent.get('node'), 400);
});

test('a flood of acknowledgements leaves the others their share', async () => {
  const { time, sent, flood } = stage();
  flood('acknowledge', 10_000);
  await time.runFor(1);
  flood('node', 1_000);
  flood('eviction', 1_000);
  await time.runFor(9_000);
  const [node = 0, eviction = 0, acknowledge = 0] = (
    ['node', 'eviction', 'acknowledge'] as const
  ).map((lane) => sent.get(lane));
  // 450 writes in nine seconds, by weights 8, 8 and 2, beside the first burst of 100.
  assert.ok(Math.abs(node - 200) <= 2 && Math.abs(eviction - 200) <= 2, `${node} ${eviction}`);
  assert.ok(Math.abs(acknowledge - 150) <= 2, String(acknowledge));
});

test('an idle lane leaves its share to the others', async () => {
  const { time, sent, flood } = stage();
  flood('acknowledge', 1_000);
  await time.runFor(10_000);
  assert.equal(sent.get('acknowledge'), 600);
});

test('a cordon never waits, and is paid for by what comes after', async () => {
  const { time, sent, flood } = stage();
  flood('node', 200);
  await time.runFor(1);
  flood('cordon', 50);
  await time.runFor(1);
  assert.equal(sent.get('cordon'), 50);
  await time.runFor(1_000);
  assert.equal(sent.get('node'), 100);
});

test('a pause holds its own lane only', async () => {
  const { time, lanes, sent, flood } = stage();
  lanes.pause('acknowledge', 5_000);
  flood('acknowledge', 10);
  flood('node', 10);
  await time.runFor(4_000);
  assert.deepEqual([sent.get('acknowledge'), sent.get('node')], [undefined, 10]);
  await time.runFor(2_000);
  assert.equal(sent.get('acknowledge'), 10);
});

test('a write that is given up leaves its place', async () => {
  const { time, lanes, sent, flood } = stage();
  flood('node', 100);
  await time.runFor(1);
  const ender = new AbortController();
  const given = lanes.enter('node', ender.signal);
  ender.abort(new Error('not any more'));
  await assert.rejects(given, /not any more/);
  assert.equal(lanes.waitingCount('node'), 0);
  flood('node', 1);
  await time.runFor(100);
  assert.equal(sent.get('node'), 101);
});

test('writes that wait under one signal listen to it once, and all end with it', async () => {
  const { time, lanes, flood } = stage();
  flood('node', 100);
  await time.runFor(1);
  const ender = new AbortController();
  const listeners = (): number => getEventListeners(ender.signal, 'abort').length;
  const waiting = Array.from({ length: 1_000 }, () => lanes.enter('node', ender.signal));
  assert.equal(listeners(), 1);
  ender.abort(new Error('not any more'));
  const ends = await Promise.allSettled(waiting);
  assert.ok(ends.every(({ status }) => status === 'rejected'));
  assert.deepEqual([lanes.waitingCount('node'), listeners()], [0, 0]);
});
