// Collects the entries of one map field while its record is read, in whatever pieces they come,
// and turns them into an interned set. The last entry of a key wins, as in every protobuf map.
//
// Cost per entry: two array reads; per map: a sort of its few numbers and one table lookup.

import type { EntryTable } from './entry-table.ts';
import { FIRST_CAPACITY, grownWords } from './range-table.ts';
import type { TupleTable } from './tuple-table.ts';

/** Beyond this the platform's sort is faster than insertion. */
const SMALL = 24;

export class MapBuilder {
  readonly #entries: EntryTable;
  readonly #sets: TupleTable;
  #numbers: Uint32Array = new Uint32Array(64);
  #size = 0;
  /** By key: the record in which it was met last, and where its entry stands. */
  #metIn: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  #placeOf: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  #record = 0;

  constructor(entries: EntryTable, sets: TupleTable) {
    this.#entries = entries;
    this.#sets = sets;
  }

  /** For the next record; records are numbered from 1. */
  begin(record: number): void {
    this.#record = record;
    this.#size = 0;
  }

  add(entry: number): void {
    const key = this.#entries.keyOf[entry]!;
    if (key >= this.#metIn.length) this.#growKeys(key + 1);
    if (this.#metIn[key] === this.#record) {
      this.#numbers[this.#placeOf[key]!] = entry;
      return;
    }
    this.#metIn[key] = this.#record;
    this.#placeOf[key] = this.#size;
    if (this.#size === this.#numbers.length) {
      this.#numbers = grownWords(this.#numbers, 2 * this.#size);
    }
    this.#numbers[this.#size++] = entry;
  }

  /** The interned set; its order says nothing. */
  finish(): number {
    if (this.#size > 1) this.#sort();
    return this.#sets.intern(this.#numbers, this.#size);
  }

  #sort(): void {
    const numbers = this.#numbers;
    if (this.#size > SMALL) {
      numbers.subarray(0, this.#size).sort();
      return;
    }
    for (let at = 1; at < this.#size; at++) {
      const moving = numbers[at]!;
      let to = at;
      for (; to > 0 && numbers[to - 1]! > moving; to--) {
        numbers[to] = numbers[to - 1]!;
      }
      numbers[to] = moving;
    }
  }

  #growKeys(needed: number): void {
    const capacity = Math.max(needed, 2 * this.#metIn.length);
    this.#metIn = grownWords(this.#metIn, capacity);
    this.#placeOf = grownWords(this.#placeOf, capacity);
  }
}
