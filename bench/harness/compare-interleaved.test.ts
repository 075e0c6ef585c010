// Proves the side-by-side comparison on a clock that the two sides move: order, ratio, slowdown.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareInterleaved } from './compare-interleaved.ts';

function stage() {
  const time = { nowMs: 0 };
  const order: string[] = [];
  const side = (name: string, takesMs: () => number, latencies?: readonly number[]) => () => {
    order.push(name);
    time.nowMs += takesMs();
    return latencies;
  };
  return { order, side, nowMs: () => time.nowMs };
}

test('rounds alternate who goes first, warm-up rounds do not count', async () => {
  const { order, side, nowMs } = stage();
  let oursCalls = 0;
  const result = await compareInterleaved({
    ours: side('ours', () => (oursCalls++ < 1 ? 1_000 : 5)),
    reference: side('reference', () => 10),
    rounds: 3,
    warmupRounds: 1,
    opsPerRound: 100,
    nowMs,
  });
  const pairs = order.map((name, call) => (call % 2 === 0 ? name : undefined));
  assert.equal(order.length, 8);
  assert.deepEqual(
    pairs.filter((name) => name !== undefined),
    ['reference', 'ours', 'reference', 'ours'],
  );
  assert.equal(result.ratio, 2);
  assert.equal(result.oursOpsPerSecond, 20_000);
  assert.equal(result.referenceOpsPerSecond, 10_000);
  assert.equal(result.slowdown, 0.5);
  assert.equal(result.oursP50Ms, 0.05);
});

test('the ratio is the median of rounds: one disturbed round does not move it', async () => {
  const { side, nowMs } = stage();
  let calls = 0;
  const result = await compareInterleaved({
    ours: side('ours', () => (calls++ === 4 ? 5_000 : 8)),
    reference: side('reference', () => 8),
    rounds: 9,
    warmupRounds: 0,
    nowMs,
  });
  assert.equal(result.ratio, 1);
  assert.deepEqual([result.ratioLow, result.ratioHigh], [1, 1]);
});

test('returned latencies decide the slowdown: p99 over p99', async () => {
  const { side, nowMs } = stage();
  const loaded = Array.from({ length: 100 }, (_, index) => index + 1);
  const result = await compareInterleaved({
    ours: side('loaded', () => 4, loaded),
    reference: side('unloaded', () => 4, [3, 3, 3]),
    rounds: 1,
    nowMs,
  });
  assert.equal(result.slowdown, 33);
  assert.equal(result.ratio, 1);
});

test('a comparison needs a round', async () => {
  const idle = () => undefined;
  await assert.rejects(compareInterleaved({ ours: idle, reference: idle, rounds: 0 }), /rounds/);
});
