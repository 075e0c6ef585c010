// Proves that delays double up to the cap, stay within their jitter, restart after a
// success, and repeat from their seed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionError } from './assert.ts';
import { Backoff } from './backoff.ts';
import { createRandom } from './runtime/random.ts';

const draw = (backoff: Backoff, count: number): number[] =>
  Array.from({ length: count }, () => backoff.nextMs());

test('without jitter: doubling up to the cap, for any number of attempts', () => {
  const backoff = new Backoff(createRandom(1n), { initialMs: 100, maxMs: 1000, jitter: 0 });
  assert.deepEqual(draw(backoff, 6), [100, 200, 400, 800, 1000, 1000]);
  assert.equal(draw(backoff, 5000).at(-1), 1000);
  backoff.reset();
  assert.deepEqual(draw(backoff, 2), [100, 200]);
});

test('jitter stays inside its share and really spreads', () => {
  for (const [jitter, lowest] of [
    [0.5, 50],
    [1, 0],
  ] as const) {
    const options = { initialMs: 100, maxMs: 100, jitter };
    const delays = draw(new Backoff(createRandom(2n), options), 2000);
    assert.ok(delays.every((ms) => ms > lowest && ms <= 100));
    assert.ok(Math.min(...delays) < lowest + 5 && Math.max(...delays) > 95);
  }
});

test('one seed, one sequence', () => {
  const options = { initialMs: 10, maxMs: 10_000 };
  const sequence = (seed: bigint): number[] => draw(new Backoff(createRandom(seed), options), 10);
  assert.deepEqual(sequence(5n), sequence(5n));
  assert.notDeepEqual(sequence(5n), sequence(6n));
});

test('misuse is a bug', () => {
  for (const options of [
    { initialMs: 0, maxMs: 10 },
    { initialMs: 20, maxMs: 10 },
    { initialMs: 1, maxMs: Number.POSITIVE_INFINITY },
    { initialMs: Number.NaN, maxMs: 10 },
    { initialMs: 1, maxMs: 10, jitter: 1.1 },
  ]) {
    assert.throws(() => new Backoff(createRandom(1n), options), AssertionError);
  }
});
