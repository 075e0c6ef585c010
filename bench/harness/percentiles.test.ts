// Proves that percentiles are exact samples, against the definition applied by counting.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { median, nearestRank, percentiles } from './percentiles.ts';

/** The smallest sample with at least percent % of all samples at or below it. */
function oracle(samples: readonly number[], percent: number): number {
  const enough = samples.filter((candidate) => {
    const atOrBelow = samples.filter((sample) => sample <= candidate).length;
    return atOrBelow * 100 >= percent * samples.length;
  });
  return Math.min(...enough);
}

const samplesArbitrary = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), {
  minLength: 1,
  maxLength: 250,
});

test('p50, p95, p99 and max equal the counting oracle', () => {
  fc.assert(
    fc.property(samplesArbitrary, (list) => {
      const found = percentiles(Float64Array.from(list));
      assert.equal(found.p50, oracle(list, 50));
      assert.equal(found.p95, oracle(list, 95));
      assert.equal(found.p99, oracle(list, 99));
      assert.equal(found.max, Math.max(...list));
    }),
  );
});

test('the order of samples and the samples themselves are left alone', () => {
  const samples = Float64Array.of(3, 1, 2);
  assert.equal(percentiles(samples).total, 6);
  assert.deepEqual(samples, Float64Array.of(3, 1, 2));
});

test('known ranks', () => {
  const hundred = Float64Array.from({ length: 100 }, (_, index) => index + 1);
  assert.deepEqual(percentiles(hundred), { p50: 50, p95: 95, p99: 99, max: 100, total: 5_050 });
  assert.equal(nearestRank(Float64Array.of(7), 50), 7);
  assert.equal(median([9, 1, 5]), 5);
  // Sorted as numbers, not as text.
  assert.equal(median([10, 9, 100]), 10);
});

test('no samples have no percentile', () => {
  assert.throws(() => percentiles(new Float64Array(0)), /no samples/);
});
