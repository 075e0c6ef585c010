// Which classes gained or lost an acquirable machine, in order: readers keep sums over the pools
// up to date by reading the tail. The log is bounded; when it is cut, its epoch rises and
// readers count again.

/** Changes kept: between two cycles of a shard happen a few thousand. */
const MAX_CHANGES = 1 << 18;

export class PoolLog {
  /** A class × 2, plus 1 for a gain. */
  readonly changes: number[] = [];
  #epoch = 0;

  get epoch(): number {
    return this.#epoch;
  }

  add(klass: number, isGain: boolean): void {
    if (this.changes.length >= MAX_CHANGES) {
      this.changes.length = 0;
      this.#epoch += 1;
    }
    this.changes.push(klass * 2 + (isGain ? 1 : 0));
  }
}
