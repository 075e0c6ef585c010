// Tuples of whole numbers to dense numbers, by content: sets of map entries, and profiles. Kept
// in one pool, of which a tuple is a stretch. 0 is the empty tuple.

import { hashWords } from './byte-ranges.ts';
import { FIRST_CAPACITY, grownWords } from './range-table.ts';

const FIRST_POOL = 8 * FIRST_CAPACITY;

export class TupleTable {
  /** Tuple `id` is `pool[starts[id] .. starts[id + 1])`. */
  pool: Uint32Array = new Uint32Array(FIRST_POOL);
  starts: Uint32Array = new Uint32Array(FIRST_CAPACITY + 1);
  #hashes: Int32Array = new Int32Array(FIRST_CAPACITY);
  #slots: Int32Array = new Int32Array(2 * FIRST_CAPACITY);
  #count = 1;

  get count(): number {
    return this.#count;
  }

  /** The number of `values[0..length)`, which is taken in if it is new. */
  intern(values: Uint32Array, length: number): number {
    if (length === 0) return 0;
    const hash = hashWords(values, length);
    const mask = this.#slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const id = this.#slots[at]! - 1;
      if (id < 0) return this.#add(values, length, hash);
      if (this.#hashes[id] === hash && this.#isEqual(id, values, length)) return id;
    }
  }

  #isEqual(id: number, values: Uint32Array, length: number): boolean {
    const start = this.starts[id]!;
    if (this.starts[id + 1]! - start !== length) return false;
    for (let at = 0; at < length; at++) if (this.pool[start + at] !== values[at]) return false;
    return true;
  }

  #add(values: Uint32Array, length: number, hash: number): number {
    const id = this.#count;
    if (id === this.#hashes.length) this.#grow();
    const start = this.starts[id]!;
    if (start + length > this.pool.length) {
      this.pool = grownWords(this.pool, Math.max(2 * this.pool.length, start + length));
    }
    for (let at = 0; at < length; at++) this.pool[start + at] = values[at]!;
    this.#count = id + 1;
    this.starts[id + 1] = start + length;
    this.#hashes[id] = hash;
    this.#place(id);
    return id;
  }

  #place(id: number): void {
    const mask = this.#slots.length - 1;
    let at = this.#hashes[id]! & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = id + 1;
  }

  #grow(): void {
    const capacity = this.#hashes.length * 2;
    this.starts = grownWords(this.starts, capacity + 1);
    const hashes = new Int32Array(capacity);
    hashes.set(this.#hashes);
    this.#hashes = hashes;
    this.#slots = new Int32Array(2 * capacity);
    for (let id = 1; id < this.#count; id++) this.#place(id);
  }
}
