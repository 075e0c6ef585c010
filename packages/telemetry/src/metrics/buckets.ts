// Histogram bounds. Each is an integer divided once, so it is the double nearest to its decimal and
// prints as that decimal (`0.001`, …, `8.192`). Repeated multiplication would drift to spellings
// like 4.0960000000000001, and `sum by (le)` would split between versions of us.
// Widening a set keeps start and factor, so that the old bounds stay a subset of the new ones.

import { assert } from '@bigfleet/base';

/** Finite upper bounds, inclusive, ascending. `+Inf` is implied. */
export type BucketBounds = readonly number[];

const MAX_BOUND_COUNT = 64;

function powersOfTwo(unitsPerSecond: number, count: number): BucketBounds {
  return Array.from({ length: count }, (_, exponent) => 2 ** exponent / unitsPerSecond);
}

const MILLIS = 1_000;
const CENTIS = 100;

/** 1 ms … 8.192 s */
export const B14: BucketBounds = powersOfTwo(MILLIS, 14);
/** 1 ms … 32.768 s */
export const B16ms: BucketBounds = powersOfTwo(MILLIS, 16);
/** 1 ms … 65.536 s */
export const B17ms: BucketBounds = powersOfTwo(MILLIS, 17);
/** 10 ms … 327.68 s */
export const B16cs: BucketBounds = powersOfTwo(CENTIS, 16);
/** 10 ms … 5,242.88 s */
export const B20cs: BucketBounds = powersOfTwo(CENTIS, 20);
/** 5 ms … 10 s, the default of Prometheus clients */
export const DEF: BucketBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** DEF and five more [ours], for cloud API calls that may take minutes */
export const DEF_LONG: BucketBounds = [...DEF, 30, 60, 120, 300, 600];

export function assertBounds(bounds: BucketBounds): void {
  assert(bounds.length > 0 && bounds.length <= MAX_BOUND_COUNT, 'histogram bounds: 1 to 64', {
    count: bounds.length,
  });
  let previous = Number.NEGATIVE_INFINITY;
  for (const bound of bounds) {
    assert(Number.isFinite(bound) && bound > previous, 'histogram bounds must ascend', { bound });
    previous = bound;
  }
}

/**
 * Index of the first bound ≥ value, or `bounds.length` for the +Inf bucket. At most seven
 * comparisons for 64 bounds, no allocation.
 */
export function bucketIndex(bounds: BucketBounds, value: number): number {
  let low = 0;
  let high = bounds.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] ?? Number.POSITIVE_INFINITY) >= value) high = middle;
    else low = middle + 1;
  }
  return low;
}
