// Orders items by columns of 32-bit keys, stable: a radix sort, because a comparison that
// follows items into memory costs more than a pass over packed keys. Digits that do not differ
// cost nothing. Scratch is reused; no allocation once it has its size.

import { assert } from '@bigfleet/base';

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;
const KEY_BITS = 32;

export class RadixOrder {
  readonly #starts: Uint32Array = new Uint32Array(DIGITS);
  #order: Uint32Array = new Uint32Array(0);
  #next: Uint32Array = new Uint32Array(0);

  /**
   * Places of the first `count` items in ascending order, valid until the next call. The last
   * column decides first, equal items keep their order.
   */
  sort(columns: readonly Uint32Array[], count: number): Uint32Array {
    if (this.#order.length < count) {
      this.#order = new Uint32Array(count * 2);
      this.#next = new Uint32Array(count * 2);
    }
    for (let at = 0; at < count; at++) this.#order[at] = at;
    for (const column of columns) {
      assert(column.length >= count, 'an item without a key');
      const differing = differingBits(column, count);
      for (let shift = 0; shift < KEY_BITS; shift += DIGIT_BITS) {
        if (((differing >>> shift) & (DIGITS - 1)) !== 0) this.#byDigit(column, count, shift);
      }
    }
    return this.#order;
  }

  #byDigit(column: Uint32Array, count: number, shift: number): void {
    const starts = this.#starts;
    const order = this.#order;
    const next = this.#next;
    starts.fill(0);
    for (let at = 0; at < count; at++) bump(starts, digitOf(column, at, shift));
    let total = 0;
    for (let digit = 0; digit < DIGITS; digit++) {
      const size = starts[digit]!;
      starts[digit] = total;
      total += size;
    }
    for (let at = 0; at < count; at++) {
      const item = order[at]!;
      next[bump(starts, digitOf(column, item, shift))] = item;
    }
    this.#order = next;
    this.#next = order;
  }
}

function digitOf(column: Uint32Array, at: number, shift: number): number {
  return (column[at]! >>> shift) & (DIGITS - 1);
}

/** Counts up and returns the count of before. */
function bump(counts: Uint32Array, at: number): number {
  const before = counts[at]!;
  counts[at] = before + 1;
  return before;
}

function differingBits(column: Uint32Array, count: number): number {
  const first = column[0]!;
  let bits = 0;
  for (let at = 1; at < count; at++) bits |= column[at]! ^ first;
  return bits;
}
