// `resources` and `allocatable` messages to interned sets, whole: machines of one type carry the
// same few bytes, so one lookup replaces one per entry. Another order of the same entries is
// another spelling of the same set.

import type { Source } from './byte-ranges.ts';
import type { EntryTable } from './entry-table.ts';
import { MapBuilder } from './map-builder.ts';
import { FIRST_CAPACITY, grownWords, RangeTable } from './range-table.ts';
import type { Problem } from './rows.ts';
import type { TupleTable } from './tuple-table.ts';
import { Varints } from './varints.ts';

const ENTRIES_FIELD = 1;

export class QuantityTable {
  readonly #varints: Varints;
  readonly #entries: EntryTable;
  readonly #sets: TupleTable;
  readonly #messages: RangeTable;
  readonly #builder: MapBuilder;
  #setOf: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  /** Numbers the maps that the builder makes, so that it tells their keys apart. */
  #mapCount = 0;
  /** Why `intern` or `merge` answered −1. */
  problem: Problem = 'framing';

  constructor(source: Source, entries: EntryTable, sets: TupleTable, limit: number) {
    this.#varints = new Varints(source.bytes);
    this.#entries = entries;
    this.#sets = sets;
    this.#messages = new RangeTable(source.view, limit);
    this.#builder = new MapBuilder(entries, sets);
  }

  get isFull(): boolean {
    return this.#messages.isFull;
  }

  /** The set of one Resources message; −1 when it is malformed. */
  intern(start: number, end: number): number {
    const known = this.#messages.find(start, end);
    if (known >= 0) return this.#setOf[known]!;
    const set = this.merge(0, start, end);
    if (set < 0) return -1;
    const message = this.#messages.add(start, end);
    if (message >= this.#setOf.length) this.#setOf = grownWords(this.#setOf, 2 * message);
    this.#setOf[message] = set;
    return set;
  }

  /** The message laid over a set that came before it in the same record. */
  merge(before: number, start: number, end: number): number {
    this.#builder.begin(++this.#mapCount);
    const { starts, pool } = this.#sets;
    const stop = starts[before + 1]!;
    for (let at = starts[before]!; at < stop; at++) this.#builder.add(pool[at]!);
    return this.#read(start, end) ? this.#builder.finish() : -1;
  }

  #read(start: number, end: number): boolean {
    this.problem = 'framing';
    for (let at = start; at < end; ) {
      const tag = this.#varints.readTag(at, end);
      const from = this.#varints.next;
      const to = tag < 0 ? -1 : this.#varints.skip(tag & 7, from, end);
      if (to < 0) return false;
      if (Math.floor(tag / 8) === ENTRIES_FIELD) {
        if ((tag & 7) !== 2) return false;
        this.#varints.read(from, end);
        if (!this.#entry(this.#varints.next, to)) return false;
      }
      at = to;
    }
    return true;
  }

  #entry(start: number, end: number): boolean {
    const entry = this.#entries.intern(start, end);
    if (entry < 0) this.problem = this.#entries.problem;
    else this.#builder.add(entry);
    return entry >= 0;
  }
}
