// How many machines there are, by state, capacity type and interruption penalty of what they serve.
// Kept with every write, so that a scrape reads some hundred numbers and walks no fleet.

import { PINNED_BUCKET } from '@bigfleet/base';
import { CapacityType, type Machine, STATE_COUNT } from '@bigfleet/engine';

const BUCKETS: number = PINNED_BUCKET + 1;
const TYPES: number = Object.values(CapacityType).length + 1;

export class MachineCounts {
  readonly #counts = new Int32Array(STATE_COUNT * TYPES * BUCKETS);

  add({ state, capacityType, assigned }: Machine, by: 1 | -1): void {
    const cell = cellOf(state, capacityType, assigned.interruptionBucket);
    this.#counts[cell] = this.#counts[cell]! + by;
  }

  of(state: number, capacityType: number, bucket: number): number {
    return this.#counts[cellOf(state, capacityType, bucket)]!;
  }
}

/** A machine that serves nothing carries bucket 0 or Zero: both are the label 0. */
function cellOf(state: number, capacityType: number, bucket: number): number {
  return (state * TYPES + capacityType) * BUCKETS + Math.max(1, bucket);
}
