// Reads one Machine message into a row of the columns: field by field, in any order, merging
// what is repeated, skipping what is unknown, refusing what wire's decoder would refuse. Keeps no
// object per record; what is left of it are numbers of interned strings, entries and profiles.
//
// Cost: bench provider/list-columns. One lookup per string and map entry, no allocation per
// record once the tables know the fleet's vocabulary.

import { hashRange, type Source } from './byte-ranges.ts';
import { EntryTable } from './entry-table.ts';
import { MapBuilder } from './map-builder.ts';
import { QuantityTable } from './quantity-table.ts';
import { RangeTable } from './range-table.ts';
import type { Problem, Rows } from './rows.ts';
import { TupleTable } from './tuple-table.ts';
import { Varints } from './varints.ts';

/** Distinct strings, and distinct entries: sixteen for every machine of a full shard. */
const MAX_DISTINCT = 8_000_000;

/** An enum value that no byte column holds. */
const UNKNOWN_ENUM = 255;

const PROFILE_WORDS = 10;
/** Number and wire type of every field that may not come with another type. */
const KNOWN_NUMBERS = 15;
const RESERVED_NUMBER = 11;

export class MachineDecoder {
  readonly #source: Source;
  readonly #rows: Rows;
  readonly #varints: Varints;
  readonly strings: RangeTable;
  readonly entries: EntryTable;
  readonly sets: TupleTable = new TupleTable();
  readonly profiles: TupleTable = new TupleTable();
  readonly #labels: MapBuilder;
  readonly #metadata: MapBuilder;
  readonly #quantityTable: QuantityTable;
  /** The profile of the record being read, see profile.ts. */
  readonly #profile: Uint32Array = new Uint32Array(PROFILE_WORDS);
  #row = 0;
  #problem: Problem = 'framing';

  constructor(source: Source, rows: Rows) {
    this.#source = source;
    this.#rows = rows;
    this.#varints = new Varints(source.bytes);
    this.strings = new RangeTable(source.view, MAX_DISTINCT);
    this.entries = new EntryTable(source, MAX_DISTINCT);
    this.#labels = new MapBuilder(this.entries, this.sets);
    this.#metadata = new MapBuilder(this.entries, this.sets);
    this.#quantityTable = new QuantityTable(source, this.entries, this.sets, MAX_DISTINCT);
  }

  /** One of the tables has reached its bound. */
  get isFull(): boolean {
    return this.strings.isFull || this.entries.isFull || this.#quantityTable.isFull;
  }

  /** Undefined when the record was read; otherwise its id is in the row if it came first. */
  decode(row: number, start: number, end: number): Problem | undefined {
    this.#begin(row);
    if (!this.#fields(start, end)) return this.#problem;
    this.#finish(row);
    return undefined;
  }

  #begin(row: number): void {
    this.#row = row;
    this.#problem = 'framing';
    this.#profile.fill(0);
    const record = row + 1;
    this.#labels.begin(record);
    this.#metadata.begin(record);
  }

  #fields(start: number, end: number): boolean {
    const { bytes } = this.#source;
    let at = start;
    while (at < end) {
      let tag = bytes[at++]!;
      if (tag >= 0x80) {
        tag = this.#varints.readTag(at - 1, end);
        at = this.#varints.next;
      }
      if ((tag & 7) === 2 && tag >= 8) {
        let length = bytes[at++]!;
        if (length >= 0x80) {
          length = this.#varints.read(at - 1, end);
          at = this.#varints.next;
        }
        const to = at + length;
        // `at` itself lies beyond the end when the length's own byte was missing.
        if (length < 0 || at > end || to > end) return false;
        if (!this.#delimited(tag >>> 3, at, to)) return false;
        at = to;
      } else {
        at = this.#scalar(tag, at, end);
        if (at < 0) return false;
      }
    }
    return true;
  }

  #delimited(number: number, start: number, end: number): boolean {
    switch (number) {
      case 1:
        return this.#id(start, end);
      case 3:
        return this.#host(start, end);
      case 4:
        return this.#profileText(0, start, end);
      case 5:
        return this.#profileText(1, start, end);
      case 9:
        return this.#quantities(7, start, end);
      case 10:
        return this.#entry(this.#labels, start, end);
      case 12:
        return this.#rowText(this.#rows.lastError, start, end);
      case 13:
        return this.#quantities(9, start, end);
      case 14:
        return this.#rowText(this.#rows.cluster, start, end);
      case 15:
        return this.#entry(this.#metadata, start, end);
      default:
        return number > KNOWN_NUMBERS || number === RESERVED_NUMBER;
    }
  }

  /** What is not length-delimited; where it ends, −1 when it is malformed. */
  #scalar(tag: number, start: number, end: number): number {
    const to = tag < 8 ? -1 : this.#varints.skip(tag & 7, start, end);
    if (to < 0) return -1;
    switch (tag) {
      case 0x10:
        this.#rows.state[this.#row] = enumByte(this.#varints.readInt32(start));
        return to;
      case 0x30:
        this.#profile[2] = enumByte(this.#varints.readInt32(start));
        return to;
      case 0x39:
        this.#profileDouble(3, start);
        return to;
      case 0x41:
        this.#profileDouble(5, start);
        return to;
      default: {
        const number = Math.floor(tag / 8);
        return number > KNOWN_NUMBERS || number === RESERVED_NUMBER ? to : -1;
      }
    }
  }

  #id(start: number, end: number): boolean {
    if (!this.#isText(start, end)) return false;
    this.#rows.idStart[this.#row] = start;
    this.#rows.idLength[this.#row] = end - start;
    this.#rows.idHash[this.#row] = hashRange(this.#source.view, start, end);
    return true;
  }

  #host(start: number, end: number): boolean {
    const { bytes } = this.#source;
    for (let at = start; at < end; ) {
      const tag = this.#varints.readTag(at, end);
      if (tag < 0) return false;
      const from = this.#varints.next;
      const to = this.#varints.skip(tag & 7, from, end);
      if (to < 0) return false;
      const number = Math.floor(tag / 8);
      if (number <= 2) {
        if ((tag & 7) !== 2) return false;
        const length = bytes[from]!;
        if (length >= 0x80) this.#varints.read(from, end);
        const textStart = length < 0x80 ? from + 1 : this.#varints.next;
        if (!this.#hostText(number, textStart, to)) return false;
      }
      at = to;
    }
    return true;
  }

  #hostText(number: number, start: number, end: number): boolean {
    if (number === 1) return this.#rowText(this.#rows.hostProvider, start, end);
    if (!this.#isText(start, end)) return false;
    this.#rows.hostRefStart[this.#row] = start;
    this.#rows.hostRefLength[this.#row] = end - start;
    return true;
  }

  /** `word` 0 means that the record had none yet, or an empty one. */
  #quantities(word: number, start: number, end: number): boolean {
    const before = this.#profile[word]!;
    const set =
      before === 0
        ? this.#quantityTable.intern(start, end)
        : this.#quantityTable.merge(before, start, end);
    if (set < 0) {
      this.#problem = this.#quantityTable.problem;
      return false;
    }
    this.#profile[word] = set;
    return true;
  }

  #entry(map: MapBuilder, start: number, end: number): boolean {
    const entry = this.entries.intern(start, end);
    if (entry < 0) {
      this.#problem = this.entries.problem;
      return false;
    }
    map.add(entry);
    return true;
  }

  #profileText(word: number, start: number, end: number): boolean {
    const text = this.#intern(start, end);
    if (text < 0) return false;
    this.#profile[word] = text;
    return true;
  }

  #rowText(column: Uint32Array, start: number, end: number): boolean {
    const text = this.#intern(start, end);
    if (text < 0) return false;
    column[this.#row] = text;
    return true;
  }

  #profileDouble(word: number, start: number): void {
    const { view } = this.#source;
    this.#profile[word] = view.getUint32(start, true);
    this.#profile[word + 1] = view.getUint32(start + 4, true);
  }

  #intern(start: number, end: number): number {
    const known = this.strings.find(start, end);
    if (known >= 0) return known;
    return this.#isText(start, end) ? this.strings.add(start, end) : -1;
  }

  #isText(start: number, end: number): boolean {
    if (this.#source.isText(start, end)) return true;
    this.#problem = 'text';
    return false;
  }

  #finish(row: number): void {
    this.#profile[8] = this.#labels.finish();
    this.#rows.metadata[row] = this.#metadata.finish();
    this.#rows.profile[row] = this.profiles.intern(this.#profile, PROFILE_WORDS);
  }
}

function enumByte(value: number): number {
  return value >= 0 && value < UNKNOWN_ENUM ? value : UNKNOWN_ENUM;
}
