// Map entries to dense numbers, whole: half a million machines share a few thousand entries such
// as zone=a, and hashing key and value at once is one lookup instead of two. An entry is parsed
// and its text checked when it is first met, by the rules of wire's decoder: the last key and the
// last value win, and a foreign field inside is malformed. 0 is the entry of two empty strings.

import type { Source } from './byte-ranges.ts';
import { FIRST_CAPACITY, grownWords, RangeTable } from './range-table.ts';
import type { Problem } from './rows.ts';
import { Varints } from './varints.ts';

/** Tags of key and value. */
const KEY = 0x0a;
const VALUE = 0x12;

export class EntryTable {
  readonly #source: Source;
  readonly #varints: Varints;
  readonly #entries: RangeTable;
  readonly keys: RangeTable;
  keyOf: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  valueStarts: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  valueLengths: Uint32Array = new Uint32Array(FIRST_CAPACITY);
  /** Why `intern` answered −1. */
  problem: Problem = 'framing';

  constructor(source: Source, limit: number) {
    this.#source = source;
    this.#varints = new Varints(source.bytes);
    this.#entries = new RangeTable(source.view, limit);
    this.keys = new RangeTable(source.view, limit);
  }

  get isFull(): boolean {
    return this.#entries.isFull;
  }

  intern(start: number, end: number): number {
    const known = this.#entries.find(start, end);
    return known >= 0 ? known : this.#add(start, end);
  }

  #add(start: number, end: number): number {
    let key = 0;
    let valueStart = start;
    let valueEnd = start;
    for (let at = start; at < end; ) {
      const tag = this.#varints.readTag(at, end);
      if (tag !== KEY && tag !== VALUE) return this.#refuse('framing');
      const length = this.#varints.read(this.#varints.next, end);
      const from = this.#varints.next;
      const to = from + length;
      if (length < 0 || to > end) return this.#refuse('framing');
      if (!this.#source.isText(from, to)) return this.#refuse('text');
      if (tag === KEY) key = this.#key(from, to);
      else [valueStart, valueEnd] = [from, to];
      at = to;
    }
    return this.#keep(start, end, { key, valueStart, valueEnd });
  }

  #key(start: number, end: number): number {
    const known = this.keys.find(start, end);
    return known >= 0 ? known : this.keys.add(start, end);
  }

  #keep(
    start: number,
    end: number,
    parsed: { key: number; valueStart: number; valueEnd: number },
  ): number {
    const id = this.#entries.add(start, end);
    if (id >= this.keyOf.length) {
      this.keyOf = grownWords(this.keyOf, 2 * id);
      this.valueStarts = grownWords(this.valueStarts, 2 * id);
      this.valueLengths = grownWords(this.valueLengths, 2 * id);
    }
    this.keyOf[id] = parsed.key;
    this.valueStarts[id] = parsed.valueStart;
    this.valueLengths[id] = parsed.valueEnd - parsed.valueStart;
    return id;
  }

  #refuse(problem: Problem): -1 {
    this.problem = problem;
    return -1;
  }
}
