// Proves that bucket bounds are the canonical decimals of the spec and that a value on a bound
// falls into that bound's bucket.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  assertBounds,
  B14,
  B16cs,
  B16ms,
  B17ms,
  B20cs,
  type BucketBounds,
  bucketIndex,
  DEF,
  DEF_LONG,
} from './buckets.ts';

const MILLIS_14 =
  '0.001 0.002 0.004 0.008 0.016 0.032 0.064 0.128 0.256 0.512 1.024 2.048 4.096 8.192';
const CENTIS_16 =
  '0.01 0.02 0.04 0.08 0.16 0.32 0.64 1.28 2.56 5.12 10.24 20.48 40.96 81.92 163.84 327.68';
const DEFAULTS = '0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10';

const sets: readonly [string, BucketBounds, string][] = [
  ['B14', B14, MILLIS_14],
  ['B16ms', B16ms, `${MILLIS_14} 16.384 32.768`],
  ['B17ms', B17ms, `${MILLIS_14} 16.384 32.768 65.536`],
  ['B16cs', B16cs, CENTIS_16],
  ['B20cs', B20cs, `${CENTIS_16} 655.36 1310.72 2621.44 5242.88`],
  ['DEF', DEF, DEFAULTS],
  ['DEF_LONG', DEF_LONG, `${DEFAULTS} 30 60 120 300 600`],
];

for (const [name, bounds, text] of sets) {
  test(`${name} prints its canonical decimals`, () => {
    assert.equal(bounds.map(String).join(' '), text);
    assertBounds(bounds);
  });
}

test('bounds must ascend and be finite', () => {
  for (const bounds of [[], [1, 1], [2, 1], [Number.NaN], [1, Number.POSITIVE_INFINITY]]) {
    assert.throws(() => assertBounds(bounds), { name: 'AssertionError' });
  }
});

test('bucketIndex agrees with a linear search', () => {
  const bounds = fc.constantFrom(...sets.map(([, set]) => set));
  const value = fc.oneof(
    fc.double({ min: 0, max: 10_000, noNaN: true }),
    fc.constantFrom(...B14, ...B20cs, ...DEF_LONG),
  );
  fc.assert(
    fc.property(bounds, value, (set, seconds) => {
      const first = set.findIndex((bound) => seconds <= bound);
      assert.equal(bucketIndex(set, seconds), first < 0 ? set.length : first);
    }),
  );
});
