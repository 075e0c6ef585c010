// Rows by the bytes of their ids. A first List of half a million machines comes in whatever order its
// provider keeps; an engine that meets the ids in ascending order only ever appends, which takes it
// half the time. Multikey quicksort over four bytes at a time: the long prefixes that ids share are
// fetched once per four bytes, not once per comparison.
//
// For speed alone: ids that differ only in zero bytes at their end, or far behind the length of any
// real id, keep any order.

import type { Rows } from '../list/rows.ts';

const KEY_BYTES = 4;
/** Twice a real id; bounds the recursion, which a provider could make as deep as its ids are long. */
const MAX_DEPTH = 512;

export class RowOrder {
  readonly #bytes: Uint8Array;
  readonly #rows: Rows;
  #order: Uint32Array = new Uint32Array(0);
  /** Of the row at the same place: its next four bytes, zeros where the id has ended. */
  #keys: Uint32Array = new Uint32Array(0);

  constructor(bytes: Uint8Array, rows: Rows) {
    this.#bytes = bytes;
    this.#rows = rows;
  }

  /** In place. */
  sort(order: Uint32Array): void {
    this.#order = order;
    this.#keys = new Uint32Array(order.length);
    this.#byBytes(0, order.length, 0);
  }

  /** `order[from..to)`, whose ids agree in their first `depth` bytes. */
  #byBytes(from: number, to: number, depth: number): void {
    if (to - from <= 1 || depth >= MAX_DEPTH) return;
    if (this.#fetch(from, to, depth)) this.#byKeys(from, to, depth);
  }

  /** False when every id has ended before `depth`. */
  #fetch(from: number, to: number, depth: number): boolean {
    const { idStart, idLength } = this.#rows;
    let isAny = false;
    for (let at = from; at < to; at++) {
      const row = this.#order[at]!;
      const left = idLength[row]! - depth;
      if (left > 0) isAny = true;
      this.#keys[at] = this.#key(idStart[row]! + depth, left);
    }
    return isAny;
  }

  #key(start: number, left: number): number {
    let key = 0;
    for (let at = 0; at < KEY_BYTES; at++) {
      key = (key << 8) | (at < left ? this.#bytes[start + at]! : 0);
    }
    return key >>> 0;
  }

  /** The keys of this depth are fetched. The larger part goes on here: the stack stays shallow. */
  #byKeys(first: number, end: number, depth: number): void {
    let from = first;
    let to = end;
    while (to - from > 1) {
      const pivot = this.#pivot(from, to);
      let low = from;
      let high = to;
      for (let at = from; at < high; ) {
        const key = this.#keys[at]!;
        if (key < pivot) this.#swap(low++, at++);
        else if (key > pivot) this.#swap(at, --high);
        else at += 1;
      }
      this.#byBytes(low, high, depth + KEY_BYTES);
      if (low - from < to - high) {
        this.#byKeys(from, low, depth);
        from = high;
      } else {
        this.#byKeys(high, to, depth);
        to = low;
      }
    }
  }

  /** The middle of three. */
  #pivot(from: number, to: number): number {
    const a = this.#keys[from]!;
    const b = this.#keys[(from + to) >>> 1]!;
    const c = this.#keys[to - 1]!;
    return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
  }

  #swap(a: number, b: number): void {
    if (a === b) return;
    const row = this.#order[a]!;
    const key = this.#keys[a]!;
    this.#order[a] = this.#order[b]!;
    this.#keys[a] = this.#keys[b]!;
    this.#order[b] = row;
    this.#keys[b] = key;
  }
}
