// Proves that the interval covers the true median at 95 %, by exact binomial arithmetic over
// integers, and that too few values make no claim.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { medianInterval } from './median-interval.ts';

function choose(count: number, picked: number): bigint {
  let value = 1n;
  for (let step = 0; step < picked; step++)
    value = (value * BigInt(count - step)) / BigInt(step + 1);
  return value;
}

/** P(fewer than `cut + 1` of `count` fair coins fall left), times 2^count. */
function tailWays(count: number, cut: number): bigint {
  let ways = 0n;
  for (let picked = 0; picked <= cut; picked++) ways += choose(count, picked);
  return ways;
}

function coversAt95(count: number, cut: number): boolean {
  return 20n * 2n * tailWays(count, cut) <= 2n ** BigInt(count);
}

test('cuts as much as 95 % allows, for 1 to 60 values', () => {
  for (let count = 1; count <= 60; count++) {
    const values = Array.from({ length: count }, (_, index) => index);
    const { low, high, confident } = medianInterval(values);
    assert.equal(confident, coversAt95(count, 0), `${count} values`);
    assert.equal(high, count - 1 - low);
    if (confident) assert.ok(coversAt95(count, low) && !coversAt95(count, low + 1), `${count}`);
    else assert.equal(low, 0);
  }
});

test('known ranks: 6 values use the extremes, 9 drop one at each end', () => {
  assert.deepEqual(medianInterval([6, 1, 5, 2, 4, 3]), {
    median: 3.5,
    low: 1,
    high: 6,
    confident: true,
  });
  assert.deepEqual(medianInterval([9, 8, 7, 6, 5, 4, 3, 2, 1]), {
    median: 5,
    low: 2,
    high: 8,
    confident: true,
  });
  assert.equal(medianInterval([1, 2, 3, 4, 5]).confident, false);
});

test('low ≤ median ≤ high, whatever the order', () => {
  const values = fc.array(fc.double({ min: 0.01, max: 100, noNaN: true }), { minLength: 1 });
  fc.assert(
    fc.property(values, (list) => {
      const { low, median, high } = medianInterval(list);
      assert.ok(low <= median && median <= high);
    }),
  );
});

test('nothing has no median', () => {
  assert.throws(() => medianInterval([]), /no values/);
});
