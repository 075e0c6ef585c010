// Proves the whole table of engine §1.6: numbers, bounds, labels, rounding at every edge, and
// effective cost with its rule for 0 × ∞.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssertionError } from './assert.ts';
import {
  bucketLabel,
  bucketOfDollars,
  bucketUpperBoundDollars,
  decodePenaltyBucket,
  effectiveCost,
  interruptionTerm,
  PENALTY_BUCKETS,
  PINNED_BUCKET,
  type PenaltyBucket,
} from './penalty-bucket.ts';

const INFINITE = Number.POSITIVE_INFINITY;

// Written out by hand from the specification: number, upper bound, label.
const TABLE: readonly [number: number, upperBoundDollars: number, label: string][] = [
  [1, 0, '0'],
  [2, 0.5, '0.5'],
  [3, 1, '1'],
  [4, 2, '2'],
  [5, 4, '4'],
  [6, 8, '8'],
  [7, 16, '16'],
  [8, 32, '32'],
  [9, 64, '64'],
  [10, 128, '128'],
  [11, 256, '256'],
  [12, 512, '512'],
  [13, 1024, '1024'],
  [14, 2048, '2048'],
  [15, 4096, '4096'],
  [16, 8192, '8192'],
  [17, 16384, '16384'],
  [18, 32768, '32768'],
  [19, 65536, '65536'],
  [20, 131072, '131072'],
  [21, 262144, '262144'],
  [22, 524288, '524288'],
  [23, 1048576, '1048576'],
  [24, 2097152, '2097152'],
  [25, 4194304, '4194304'],
  [26, 8388608, '8388608'],
  [27, INFINITE, 'pinned'],
];

test('27 buckets with their bounds and labels', () => {
  assert.deepEqual(
    PENALTY_BUCKETS,
    TABLE.map(([number]) => number),
  );
  for (const [number, dollars, label] of TABLE) {
    assert.equal(bucketUpperBoundDollars(number as PenaltyBucket), dollars);
    assert.equal(bucketLabel(number as PenaltyBucket), label);
    assert.equal(decodePenaltyBucket(number), number);
  }
});

test('wire value 0 is Zero, anything outside the enum is refused', () => {
  assert.equal(decodePenaltyBucket(0), 1);
  for (const bad of [-1, 28, 1.5, Number.NaN, INFINITE, -0.5, 2 ** 31]) {
    assert.equal(decodePenaltyBucket(bad), undefined, String(bad));
  }
  for (const bad of [0, 28, 1.5]) {
    assert.throws(() => bucketUpperBoundDollars(bad as PenaltyBucket), AssertionError);
  }
});

test('the fixed cases', () => {
  const cases: readonly [dollars: number, label: string][] = [
    [0, '0'],
    [-0, '0'],
    [-5, '0'],
    [Number.NEGATIVE_INFINITY, '0'],
    [Number.MIN_VALUE, '0.5'],
    [0.25, '0.5'],
    [0.5, '0.5'],
    [0.51, '1'],
    [1, '1'],
    [1.01, '2'],
    [8000, '8192'],
    [1_048_576, '1048576'],
    [8_388_608, '8388608'],
    [8_388_608.01, 'pinned'],
    [20_000_000, 'pinned'],
    [INFINITE, 'pinned'],
    [Number.NaN, 'pinned'],
  ];
  for (const [dollars, label] of cases) {
    assert.equal(bucketLabel(bucketOfDollars(dollars)), label, String(dollars));
  }
});

test('every edge: the bound itself stays, the next double goes up', () => {
  for (const [number, dollars] of TABLE.slice(0, -1)) {
    assert.equal(bucketOfDollars(dollars), number);
    assert.equal(bucketOfDollars(nextDouble(dollars)), number + 1, `just above ${dollars}`);
  }
});

test('a bucket never stands for less than the amount, and for less than twice above $0.50', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 8_388_608, noNaN: true }), (dollars) => {
      const bound = bucketUpperBoundDollars(bucketOfDollars(dollars));
      assert.ok(bound >= dollars);
      if (dollars > 0.5) assert.ok(bound < 2 * dollars);
    }),
  );
});

test('effective cost: the worked case and its cross-over', () => {
  assert.equal(effectiveCost(1.8, 0.1, 5), 2.3);
  assert.equal(effectiveCost(1.8, 0.1, 50), 6.8);
  assert.equal(effectiveCost(6, 0, 50), 6);
  assert.ok(effectiveCost(1.8, 0.1, 41.99) < 6 && effectiveCost(1.8, 0.1, 42.01) > 6);
});

test('0 × ∞ is 0, any risk × ∞ is ∞, a negative penalty counts as 0', () => {
  const pinned = bucketUpperBoundDollars(PINNED_BUCKET);
  assert.equal(interruptionTerm(0, pinned), 0);
  assert.equal(effectiveCost(6, 0, pinned), 6);
  assert.equal(effectiveCost(0, Number.MIN_VALUE, pinned), INFINITE);
  assert.equal(effectiveCost(1, 1, pinned), INFINITE);
  assert.equal(effectiveCost(1, 0.5, -100), 1);
  assert.equal(interruptionTerm(0.5, Number.NEGATIVE_INFINITY), 0);
  assert.equal(interruptionTerm(-0, pinned), 0);
});

function nextDouble(value: number): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigUint64(0, view.getBigUint64(0) + 1n);
  return view.getFloat64(0);
}
