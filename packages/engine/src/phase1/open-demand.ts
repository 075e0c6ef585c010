// What a need still lacks while machines are credited to it or acquired for it: one scratch
// vector, reused. Cost per machine: one pass over the dimensions, no allocation.

import type { VectorTable } from '../store/dimensions.ts';

export class OpenDemand {
  readonly #vectors: VectorTable;
  readonly #allocatable: VectorTable;
  #values: Float64Array = new Float64Array(4);
  #openDimensions = 0;
  #isAlwaysServed = false;

  /** `vectors` holds demand, `allocatable` the classes' supply; both have the same dimensions. */
  constructor(vectors: VectorTable, allocatable: VectorTable) {
    this.#vectors = vectors;
    this.#allocatable = allocatable;
  }

  get isCovered(): boolean {
    return this.#openDimensions === 0;
  }

  load(handle: number, isAlwaysServed: boolean): void {
    const { values, stride } = this.#vectors;
    if (this.#values.length < stride) this.#values = new Float64Array(stride);
    this.#isAlwaysServed = isAlwaysServed;
    this.#openDimensions = 0;
    const start = handle * stride;
    for (let d = 0; d < stride; d++) {
      const value = values[start + d]!;
      this.#values[d] = value;
      if (value > 0) this.#openDimensions += 1;
    }
  }

  store(handle: number): void {
    const { values, stride } = this.#vectors;
    const start = handle * stride;
    for (let d = 0; d < stride; d++) values[start + d] = this.#values[d]!;
  }

  /** Whether a machine of the class reduces at least one open dimension. */
  readonly contributes = (klass: number): boolean => {
    if (this.#openDimensions === 0) return false;
    if (this.#isAlwaysServed) return true;
    const { values, stride } = this.#allocatable;
    const start = klass * stride;
    for (let d = 0; d < stride; d++) {
      if (this.#values[d]! > 0 && values[start + d]! > 0) return true;
    }
    return false;
  };

  isCoveredBy(supply: Float64Array): boolean {
    for (let d = 0; d < supply.length; d++) {
      if (this.#values[d]! > supply[d]!) return false;
    }
    return true;
  }

  subtract(klass: number): void {
    const { values, stride } = this.#allocatable;
    const start = klass * stride;
    for (let d = 0; d < stride; d++) {
      const open = this.#values[d]!;
      if (open === 0) continue;
      const left = open - values[start + d]!;
      if (left > 0) {
        this.#values[d] = left;
      } else {
        this.#values[d] = 0;
        this.#openDimensions -= 1;
      }
    }
  }
}
