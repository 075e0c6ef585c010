// The registry's side of the instruments: each handle is a store and a place in it. Values that
// would poison a series for ever (NaN, a counter going down) are bugs and assert.
// Cost per write: two array writes; a histogram adds its binary search. No allocation.

import { assert } from '@bigfleet/base';
import { type BucketBounds, bucketIndex } from './buckets.ts';
import { assertFinite, assertNotNegative } from './checks.ts';
import type { Counter, Gauge, Histogram } from './instruments.ts';
import { NOWHERE, type SeriesStore } from './series-store.ts';

export class Series {
  protected readonly store: SeriesStore;
  protected index: number;

  constructor(store: SeriesStore, index: number) {
    this.store = store;
    this.index = index;
  }

  /** The series was removed; whoever still holds this handle writes nowhere. */
  detach(): void {
    this.index = NOWHERE;
  }
}

export class CounterSeries extends Series implements Counter {
  inc(by = 1): void {
    assertNotNegative(by, 'a counter only goes up');
    if (by === 0) return;
    const { values, published } = this.store;
    values[this.index] = (values[this.index] ?? 0) + by;
    published[this.index] = 1;
  }
}

export class GaugeSeries extends Series implements Gauge {
  set(value: number): void {
    assertFinite(value, 'a gauge is a finite number');
    const { values, published } = this.store;
    values[this.index] = value;
    if (value !== 0) published[this.index] = 1;
  }

  add(by: number): void {
    this.set((this.store.values[this.index] ?? 0) + by);
  }
}

export class HistogramSeries extends Series implements Histogram {
  readonly bounds: BucketBounds;

  constructor(store: SeriesStore, index: number, bounds: BucketBounds) {
    super(store, index);
    this.bounds = bounds;
  }

  observe(value: number): void {
    assertNotNegative(value, 'a histogram takes finite numbers ≥ 0');
    const { values, published, width } = this.store;
    const start = this.index * width;
    const bucket = start + bucketIndex(this.bounds, value);
    const sum = start + width - 1;
    values[bucket] = (values[bucket] ?? 0) + 1;
    values[sum] = (values[sum] ?? 0) + value;
    published[this.index] = 1;
  }

  merge(source: Float64Array, offset: number): void {
    const { values, published, width } = this.store;
    assert(offset >= 0 && offset + width <= source.length, 'merge source is too short');
    const start = this.index * width;
    for (let at = 0; at < width; at++) {
      const added = source[offset + at] ?? Number.NaN;
      assertNotNegative(added, 'histogram counts only go up');
      if (added === 0) continue;
      values[start + at] = (values[start + at] ?? 0) + added;
      published[this.index] = 1;
    }
  }
}

/** Numbers per histogram series: one per bound, the +Inf bucket, the sum. */
export function histogramWidth(bounds: BucketBounds): number {
  return bounds.length + 2;
}
