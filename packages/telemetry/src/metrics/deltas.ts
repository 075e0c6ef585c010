// Metrics of worker threads. A worker has no registry: it counts into one Float64Array whose layout
// both sides derive from the same declaration, ships it with each result, and the main thread adds
// it up. Counters and histograms travel as increments, gauges as their last value (NaN: not set).
// Cost: counting is one array write; `take` copies and clears; applying is one pass over the array.

import { assert } from '@bigfleet/base';
import { assertBounds, type BucketBounds, bucketIndex } from './buckets.ts';
import { assertFinite, assertNotNegative } from './checks.ts';
import type { Counter, Gauge, Histogram } from './instruments.ts';
import { histogramWidth } from './series.ts';

export type DeltaDeclaration =
  | { readonly type: 'counter' }
  | { readonly type: 'gauge' }
  | { readonly type: 'histogram'; readonly bounds: BucketBounds };

export type DeltaDeclarations = Readonly<Record<string, DeltaDeclaration>>;

/** The instrument of each declared name, on either side. */
export type DeltaInstruments<D extends DeltaDeclarations> = {
  readonly [K in keyof D]: D[K] extends { readonly type: 'counter' }
    ? Counter
    : D[K] extends { readonly type: 'gauge' }
      ? Gauge
      : Histogram;
};

export interface DeltaLayout<D extends DeltaDeclarations> {
  readonly declarations: D;
  /** Numbers in one array of deltas. */
  readonly length: number;
}

export interface DeltaBuffer<D extends DeltaDeclarations> {
  readonly instruments: DeltaInstruments<D>;
  /** Everything since the last take, into `target` (for a shared buffer) or a new array. */
  take(target?: Float64Array): Float64Array;
}

export interface DeltaTarget {
  /** In one synchronous step, so that a scrape sees all of it or nothing. */
  applyDeltas(deltas: Float64Array): void;
}

export function defineDeltas<const D extends DeltaDeclarations>(declarations: D): DeltaLayout<D> {
  let length = 0;
  for (const declaration of Object.values(declarations)) {
    if (declaration.type === 'histogram') assertBounds(declaration.bounds);
    length += widthOf(declaration);
  }
  return { declarations, length };
}

export function createDeltaBuffer<D extends DeltaDeclarations>(
  layout: DeltaLayout<D>,
): DeltaBuffer<D> {
  const values = new Float64Array(layout.length);
  const gaugeOffsets: number[] = [];
  const instruments: Record<string, Counter | Gauge | Histogram> = {};
  eachSlot(layout, (name, declaration, offset) => {
    if (declaration.type === 'gauge') gaugeOffsets.push(offset);
    instruments[name] = bufferInstrument(values, declaration, offset);
  });
  const clear = (): void => {
    values.fill(0);
    for (const offset of gaugeOffsets) values[offset] = Number.NaN;
  };
  clear();
  return {
    instruments: instruments as DeltaInstruments<D>,
    take(target = new Float64Array(layout.length)) {
      assert(target.length === layout.length, 'delta array of another layout', {
        expected: layout.length,
        got: target.length,
      });
      target.set(values);
      clear();
      return target;
    },
  };
}

export function bindDeltas<D extends DeltaDeclarations>(
  layout: DeltaLayout<D>,
  targets: DeltaInstruments<D>,
): DeltaTarget {
  const applySlots: ((deltas: Float64Array) => void)[] = [];
  eachSlot(layout, (name, declaration, offset) => {
    const target: Counter | Gauge | Histogram | undefined = targets[name];
    assert(target !== undefined, 'delta without a target', { name });
    applySlots.push(slotApplier(declaration, target, offset));
  });
  return {
    applyDeltas(deltas) {
      assert(deltas.length === layout.length, 'delta array of another layout', {
        expected: layout.length,
        got: deltas.length,
      });
      for (const apply of applySlots) apply(deltas);
    },
  };
}

function slotApplier(
  declaration: DeltaDeclaration,
  target: Counter | Gauge | Histogram,
  offset: number,
): (deltas: Float64Array) => void {
  if (declaration.type === 'counter' && 'inc' in target) {
    return (deltas) => target.inc(deltas[offset]);
  }
  if (declaration.type === 'gauge' && 'set' in target) {
    return (deltas) => {
      const value = deltas[offset] ?? Number.NaN;
      if (!Number.isNaN(value)) target.set(value);
    };
  }
  assert(declaration.type === 'histogram' && 'merge' in target, 'delta target of another type');
  assert(sameBounds(declaration.bounds, target.bounds), 'delta histogram has other bounds');
  return (deltas) => target.merge(deltas, offset);
}

function bufferInstrument(
  values: Float64Array,
  declaration: DeltaDeclaration,
  offset: number,
): Counter | Gauge | Histogram {
  if (declaration.type === 'counter') return new BufferCounter(values, offset);
  if (declaration.type === 'gauge') return new BufferGauge(values, offset);
  return new BufferHistogram(values, offset, declaration.bounds);
}

class BufferCounter implements Counter {
  readonly #values: Float64Array;
  readonly #offset: number;

  constructor(values: Float64Array, offset: number) {
    this.#values = values;
    this.#offset = offset;
  }

  inc(by = 1): void {
    assertNotNegative(by, 'a counter only goes up');
    this.#values[this.#offset] = (this.#values[this.#offset] ?? 0) + by;
  }
}

class BufferGauge implements Gauge {
  readonly #values: Float64Array;
  readonly #offset: number;
  /** Survives `take`, so that `add` keeps counting from the last value. */
  #current = 0;

  constructor(values: Float64Array, offset: number) {
    this.#values = values;
    this.#offset = offset;
  }

  set(value: number): void {
    assertFinite(value, 'a gauge is a finite number');
    this.#current = value;
    this.#values[this.#offset] = value;
  }

  add(by: number): void {
    this.set(this.#current + by);
  }
}

class BufferHistogram implements Histogram {
  readonly bounds: BucketBounds;
  readonly #values: Float64Array;
  readonly #offset: number;

  constructor(values: Float64Array, offset: number, bounds: BucketBounds) {
    this.#values = values;
    this.#offset = offset;
    this.bounds = bounds;
  }

  observe(value: number): void {
    assertNotNegative(value, 'a histogram takes finite numbers ≥ 0');
    const bucket = this.#offset + bucketIndex(this.bounds, value);
    const sum = this.#offset + this.bounds.length + 1;
    this.#values[bucket] = (this.#values[bucket] ?? 0) + 1;
    this.#values[sum] = (this.#values[sum] ?? 0) + value;
  }

  merge(source: Float64Array, offset: number): void {
    const width = histogramWidth(this.bounds);
    assert(offset >= 0 && offset + width <= source.length, 'merge source is too short');
    for (let at = 0; at < width; at++) {
      const added = source[offset + at] ?? Number.NaN;
      assertNotNegative(added, 'histogram counts only go up');
      this.#values[this.#offset + at] = (this.#values[this.#offset + at] ?? 0) + added;
    }
  }
}

function eachSlot<D extends DeltaDeclarations>(
  layout: DeltaLayout<D>,
  visit: (name: string, declaration: DeltaDeclaration, offset: number) => void,
): void {
  let offset = 0;
  for (const [name, declaration] of Object.entries(layout.declarations)) {
    visit(name, declaration, offset);
    offset += widthOf(declaration);
  }
}

function widthOf(declaration: DeltaDeclaration): number {
  return declaration.type === 'histogram' ? histogramWidth(declaration.bounds) : 1;
}

function sameBounds(a: BucketBounds, b: BucketBounds): boolean {
  return a.length === b.length && a.every((bound, at) => bound === b[at]);
}
