// Resource names as dense dimensions, and vectors as rows of one Float64Array. All values are
// exact integers in the quanta of base; sums saturate at 2⁵³ − 1. A new resource name is a rare
// event: it widens every row, once.

import { assert } from '@bigfleet/base';
import type { Resources } from '../model/resources.ts';

/** Distinct resource names in a shard; clusters and providers use a dozen. Never given back. */
export const MAX_DIMENSIONS = 256;

export class Dimensions {
  readonly #indexes = new Map<string, number>();
  readonly #names: string[] = [];
  readonly #listeners: (() => void)[] = [];

  /** Values per vector. */
  get count(): number {
    return this.#names.length;
  }

  name(dimension: number): string {
    return this.#names[dimension] ?? '';
  }

  has(name: string): boolean {
    return this.#indexes.has(name);
  }

  /** Whether these names fit: every name widens every vector, so their number is bounded. */
  hasRoomFor(resources: Resources): boolean {
    let added = 0;
    for (const name of resources.keys()) if (!this.#indexes.has(name)) added += 1;
    return this.#names.length + added <= MAX_DIMENSIONS;
  }

  /** The same of all rows of a roll-up together: each alone may fit, and all of them not. */
  hasRoomForAll(rows: Iterable<{ readonly aggregate: Resources }>): boolean {
    return this.#names.length + this.newNames(rows).size <= MAX_DIMENSIONS;
  }

  /** Names that no machine and no row had before. */
  newNames(rows: Iterable<{ readonly aggregate: Resources }>): ReadonlySet<string> {
    const added = new Set<string>();
    for (const { aggregate } of rows) {
      for (const name of aggregate.keys()) if (!this.#indexes.has(name)) added.add(name);
    }
    return added;
  }

  indexOf(name: string): number {
    const known = this.#indexes.get(name);
    if (known !== undefined) return known;
    const index = this.#names.length;
    this.#indexes.set(name, index);
    this.#names.push(name);
    for (const widen of this.#listeners) widen();
    return index;
  }

  /** Tables re-lay themselves when a dimension is added. */
  onWiden(widen: () => void): void {
    this.#listeners.push(widen);
  }
}

/** Rows of vectors with reuse; a handle is a row number. */
export class VectorTable {
  readonly #dimensions: Dimensions;
  #stride: number;
  #values: Float64Array;
  #length = 0;
  readonly #free: number[] = [];

  constructor(dimensions: Dimensions) {
    this.#dimensions = dimensions;
    this.#stride = dimensions.count;
    this.#values = new Float64Array(64 * Math.max(1, this.#stride));
    dimensions.onWiden(() => this.#widen());
  }

  /** Read `values[handle * stride + dimension]`; both change when the table grows. */
  get values(): Float64Array {
    return this.#values;
  }

  get stride(): number {
    return this.#stride;
  }

  allocate(): number {
    const handle = this.#free.pop() ?? this.#length++;
    const needed = this.#length * this.#stride;
    if (needed > this.#values.length) {
      const grown = new Float64Array(Math.max(needed, this.#values.length * 2));
      grown.set(this.#values);
      this.#values = grown;
    }
    this.clear(handle);
    return handle;
  }

  release(handle: number): void {
    assert(handle >= 0 && handle < this.#length, 'a vector that was never given', { handle });
    this.#free.push(handle);
  }

  clear(handle: number): void {
    const start = handle * this.#stride;
    this.#values.fill(0, start, start + this.#stride);
  }

  write(handle: number, resources: Resources): void {
    // Names first: one of them may be new and widen the table.
    for (const name of resources.keys()) this.#dimensions.indexOf(name);
    this.clear(handle);
    const start = handle * this.#stride;
    // By name: a pair per entry is an allocation.
    for (const name of resources.keys()) {
      this.#values[start + this.#dimensions.indexOf(name)] = resources.get(name) as number;
    }
  }

  read(handle: number): Resources {
    const resources = new Map<string, number>();
    const start = handle * this.#stride;
    for (let d = 0; d < this.#stride; d++) {
      const value = this.#values[start + d]!;
      if (value > 0) resources.set(this.#dimensions.name(d), value);
    }
    return resources;
  }

  #widen(): void {
    const from = this.#stride;
    const to = this.#dimensions.count;
    const values = new Float64Array(Math.max(64, this.#length + 1) * to);
    for (let row = 0; row < this.#length; row++) {
      for (let d = 0; d < from; d++) values[row * to + d] = this.#values[row * from + d]!;
    }
    this.#values = values;
    this.#stride = to;
  }
}
