// Metrics of worker threads. A worker has no registry: it counts into one Float64Array whose layout
// both sides derive from the same declaration, ships it with each result, and the main thread adds
// it up. Histograms travel as increments, gauges as their last value (NaN: not set).
// Cost: counting is one array write; `take` copies and clears; applying is one pass over the array.

import { assert } from '@bigfleet/base';
import { type BucketBounds, bucketIndex } from './buckets.ts';
import { assertFinite, assertNotNegative } from './checks.ts';
import type { Gauge, Histogram } from './instruments.ts';
import { histogramWidth } from './series.ts';

/** Bounds declare a histogram, undefined a gauge. */
export type DeltaDeclarations = Readonly<Record<string, BucketBounds | undefined>>;

/** Where the main thread adds up what each declared name measured. */
export type DeltaTargets<D extends DeltaDeclarations> = {
  readonly [K in keyof D]: D[K] extends BucketBounds ? Histogram : Gauge;
};

/** What a thread measures with, on either side. */
export type DeltaInstruments<D extends DeltaDeclarations> = {
  readonly [K in keyof D]: D[K] extends BucketBounds
    ? Pick<Histogram, 'observe'>
    : Pick<Gauge, 'set'>;
};

export interface DeltaBuffer<D extends DeltaDeclarations> {
  readonly instruments: DeltaInstruments<D>;
  /** Everything since the last take. */
  take(): Float64Array;
}

export interface DeltaTarget {
  /** In one synchronous step, so that a scrape sees all of it or nothing. */
  applyDeltas(deltas: Float64Array): void;
}

export function createDeltaBuffer<D extends DeltaDeclarations>(declarations: D): DeltaBuffer<D> {
  const { slots, length } = layoutOf(declarations);
  const cleared = new Float64Array(length);
  for (const { bounds, offset } of slots) if (bounds === undefined) cleared[offset] = Number.NaN;
  const values = cleared.slice();
  const instruments = slots.map(({ name, bounds, offset }) => [
    name,
    bounds === undefined ? bufferGauge(values, offset) : bufferHistogram(values, offset, bounds),
  ]);
  return {
    instruments: Object.fromEntries(instruments) as DeltaInstruments<D>,
    take() {
      const taken = values.slice();
      values.set(cleared);
      return taken;
    },
  };
}

export function bindDeltas<D extends DeltaDeclarations>(
  declarations: D,
  targets: DeltaTargets<D>,
): DeltaTarget {
  const { slots, length } = layoutOf(declarations);
  const applySlots = slots.map(({ name, bounds, offset }) => {
    const target: Gauge | Histogram | undefined = targets[name];
    assert(target !== undefined, 'delta without a target', { name });
    return slotApplier(target, bounds, offset);
  });
  return {
    applyDeltas(deltas) {
      assert(deltas.length === length, 'delta array of another layout', {
        expected: length,
        got: deltas.length,
      });
      for (const apply of applySlots) apply(deltas);
    },
  };
}

function slotApplier(
  target: Gauge | Histogram,
  bounds: BucketBounds | undefined,
  offset: number,
): (deltas: Float64Array) => void {
  if (bounds === undefined) {
    assert('set' in target, 'delta target of another type');
    return (deltas) => {
      const value = deltas[offset] ?? Number.NaN;
      if (!Number.isNaN(value)) target.set(value);
    };
  }
  assert('merge' in target, 'delta target of another type');
  assert(sameBounds(bounds, target.bounds), 'delta histogram has other bounds');
  return (deltas) => target.merge(deltas, offset);
}

function bufferGauge(values: Float64Array, offset: number): Pick<Gauge, 'set'> {
  return {
    set(value) {
      assertFinite(value, 'a gauge is a finite number');
      values[offset] = value;
    },
  };
}

function bufferHistogram(
  values: Float64Array,
  offset: number,
  bounds: BucketBounds,
): Pick<Histogram, 'observe'> {
  const sum = offset + bounds.length + 1;
  return {
    observe(value) {
      assertNotNegative(value, 'a histogram takes finite numbers ≥ 0');
      const bucket = offset + bucketIndex(bounds, value);
      values[bucket] = (values[bucket] ?? 0) + 1;
      values[sum] = (values[sum] ?? 0) + value;
    },
  };
}

interface Slot {
  readonly name: string;
  readonly bounds: BucketBounds | undefined;
  readonly offset: number;
}

function layoutOf(declarations: DeltaDeclarations): { slots: readonly Slot[]; length: number } {
  let length = 0;
  const slots = Object.entries(declarations).map(([name, bounds]) => {
    const offset = length;
    length += bounds === undefined ? 1 : histogramWidth(bounds);
    return { name, bounds, offset };
  });
  return { slots, length };
}

function sameBounds(a: BucketBounds, b: BucketBounds): boolean {
  return a.length === b.length && a.every((bound, at) => bound === b[at]);
}
