// Byte ranges to dense numbers, by content. Open addressing, half full at most; a number stands
// for the range where the content was met first, so the table copies nothing. 0 is the empty range.
//
// Bounded: a hostile List of distinct strings may not take more memory than a real fleet.

import { areEqualRanges, hashRange } from './byte-ranges.ts';

/** Small: a delta of a fleet at rest names a handful, and is decoded ten times a second. */
export const FIRST_CAPACITY = 64;

/** Words per number, side by side because a lookup needs them all. */
export const RANGE_WORDS = 3;
const HASH = 0;
export const RANGE_START = 1;
export const RANGE_LENGTH = 2;

export class RangeTable {
  readonly #view: DataView;
  readonly #limit: number;
  /** See RANGE_WORDS. */
  ranges: Int32Array = new Int32Array(RANGE_WORDS * FIRST_CAPACITY);
  /** Numbers plus 1; 0 is free. The length is a power of two, twice the capacity. */
  #slots: Int32Array = new Int32Array(2 * FIRST_CAPACITY);
  #count = 1;
  #missedHash = 0;

  constructor(view: DataView, limit: number) {
    this.#view = view;
    this.#limit = limit;
  }

  get count(): number {
    return this.#count;
  }

  get isFull(): boolean {
    return this.#count >= this.#limit;
  }

  /** −1 when the content is new; `add` then takes it in. */
  find(start: number, end: number): number {
    const length = end - start;
    if (length === 0) return 0;
    const hash = hashRange(this.#view, start, end);
    const mask = this.#slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const id = this.#slots[at]! - 1;
      if (id < 0) break;
      if (this.#has(id, hash, start, length)) return id;
    }
    this.#missedHash = hash;
    return -1;
  }

  /** Right after `find` missed the same range, with room left. */
  add(start: number, end: number): number {
    const id = this.#count;
    const word = id * RANGE_WORDS;
    if (word === this.ranges.length) this.#grow();
    this.#count = id + 1;
    this.ranges[word + HASH] = this.#missedHash;
    this.ranges[word + RANGE_START] = start;
    this.ranges[word + RANGE_LENGTH] = end - start;
    this.#place(id);
    return id;
  }

  #has(id: number, hash: number, start: number, length: number): boolean {
    const { ranges } = this;
    const word = id * RANGE_WORDS;
    if (ranges[word + HASH] !== hash || ranges[word + RANGE_LENGTH] !== length) return false;
    return areEqualRanges(this.#view, ranges[word + RANGE_START]!, start, length);
  }

  #place(id: number): void {
    const mask = this.#slots.length - 1;
    let at = this.ranges[id * RANGE_WORDS + HASH]! & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = id + 1;
  }

  #grow(): void {
    const bigger = new Int32Array(2 * this.ranges.length);
    bigger.set(this.ranges);
    this.ranges = bigger;
    this.#slots = new Int32Array(2 * this.#slots.length);
    for (let id = 1; id < this.#count; id++) this.#place(id);
  }
}

/** The old content in front of the new room. */
export function grownWords(old: Uint32Array, capacity: number): Uint32Array {
  const bigger = new Uint32Array(capacity);
  bigger.set(old);
  return bigger;
}
