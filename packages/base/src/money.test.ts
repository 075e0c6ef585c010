// Proves that prices become exact integers, that no bad double becomes money, and that people
// see the digits that matter.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  dollarsFromMicrosPerHour,
  formatPerHour,
  type MicrosPerHour,
  microsPerHourFromDollars,
} from './money.ts';

function micros(dollars: number): MicrosPerHour {
  const result = microsPerHourFromDollars(dollars);
  assert.ok(result.ok, String(dollars));
  return result.value;
}

test('dollars become micro-dollars, rounded to the nearest', () => {
  for (const [dollars, expected] of [
    [0, 0],
    [-0, 0],
    [1.8, 1_800_000],
    [0.1 + 0.2, 300_000],
    [0.0000004, 0],
    [0.0000006, 1],
    [6, 6_000_000],
    [9_007_199_254, 9_007_199_254_000_000],
  ] as const) {
    assert.ok(Object.is(micros(dollars), expected), `${dollars}`);
  }
});

test('what is no price is refused by name', () => {
  for (const [dollars, problem] of [
    [Number.NaN, 'not_a_number'],
    [-0.01, 'negative'],
    [Number.NEGATIVE_INFINITY, 'negative'],
    [Number.POSITIVE_INFINITY, 'infinite'],
    [1e10, 'too_large'],
    [Number.MAX_VALUE, 'too_large'],
  ] as const) {
    assert.deepEqual(microsPerHourFromDollars(dollars), {
      ok: false,
      error: { code: 'price_invalid', problem },
    });
  }
});

test('every amount of micro-dollars up to a million dollars survives the way to dollars', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1e12 }), (amount) => {
      assert.equal(micros(dollarsFromMicrosPerHour(amount as MicrosPerHour)), amount);
    }),
  );
});

test('formatting shows cents at least and loses nothing', () => {
  for (const [dollars, text] of [
    [0, '$0.00/h'],
    [1.8, '$1.80/h'],
    [6, '$6.00/h'],
    [0.0042, '$0.0042/h'],
    [0.000001, '$0.000001/h'],
    [12345.678, '$12345.678/h'],
    [0.1, '$0.10/h'],
    [0.105, '$0.105/h'],
  ] as const) {
    assert.equal(formatPerHour(micros(dollars)), text);
  }
});
