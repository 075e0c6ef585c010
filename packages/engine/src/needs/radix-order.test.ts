// Proves that the radix sort orders like a stable comparison of the columns, last column first.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { RadixOrder } from './radix-order.ts';

const SEED = process.env['BIGFLEET_SEED'] ?? 'radix-1';

/** Keys that differ in every digit, in few values, and not at all. */
const RANGES = [0xffff_ffff, 3, 1, 0x1_0000];

test(`the order is that of a stable comparison (seed ${SEED})`, () => {
  const random = createRandom(SEED);
  const radix = new RadixOrder();
  for (const count of [0, 1, 2, 7, 300, 5_000, 20]) {
    const columns = RANGES.map((range) =>
      Uint32Array.from({ length: count + 3 }, () => random.uint32() % range),
    );
    const expected = Array.from({ length: count }, (_, at) => at).sort((a, b) => {
      for (const column of columns.toReversed()) {
        const difference = (column[a] ?? 0) - (column[b] ?? 0);
        if (difference !== 0) return difference;
      }
      return a - b;
    });
    assert.deepEqual([...radix.sort(columns, count).subarray(0, count)], expected);
  }
});
