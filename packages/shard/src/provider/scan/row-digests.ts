// What the rows of one List say, as digests: over exactly what a merge compares with the known
// machine (state, binding, shape, error text), by content, so that two Lists agree however they
// number their strings and order their maps. Strings, map entries and profiles are digested once
// per List; a row costs five steps and allocates nothing.

import type { ListColumns, ListData } from '../list/columns.ts';
import { FIRST_CAPACITY, RANGE_LENGTH, RANGE_START, RANGE_WORDS } from '../list/range-table.ts';
import { Digest } from './digest.ts';

/** Words of a profile, as decode-list.ts lays them out. */
const STRING_WORDS = 2;
const PLAIN_WORDS = 7;
const PROFILE_WORDS = 10;

export class RowDigests {
  readonly #columns: ListColumns;
  readonly #data: ListData;
  readonly #digest = new Digest();
  readonly #strings: Lanes = new Lanes();
  readonly #keys: Lanes = new Lanes();
  readonly #entries: Lanes = new Lanes();
  readonly #sets: Lanes = new Lanes();
  readonly #profiles: Lanes = new Lanes();
  low = 0;
  high = 0;

  constructor(columns: ListColumns) {
    this.#columns = columns;
    this.#data = columns.data;
  }

  /** Of a readable row; the answer is in `low` and `high`, which are never both 0. */
  read(row: number): void {
    const { rows } = this.#data;
    const profile = this.#profile(rows.profile[row]!);
    const cluster = this.#string(rows.cluster[row]!);
    const lastError = this.#string(rows.lastError[row]!);
    const flags = rows.state[row]! * 2 + (this.#columns.hasHost(row) ? 1 : 0);
    const digest = this.#digest;
    digest.begin();
    digest.word(flags);
    digest.word(this.#profiles.low(profile));
    digest.word(this.#strings.low(cluster));
    digest.word(this.#strings.low(lastError));
    const { low } = digest;
    digest.begin();
    digest.word(flags);
    digest.word(this.#profiles.high(profile));
    digest.word(this.#strings.high(cluster));
    digest.word(this.#strings.high(lastError));
    const { high } = digest;
    this.low = low === 0 && high === 0 ? 1 : low;
    this.high = high;
  }

  #profile(number: number): number {
    if (this.#profiles.has(number)) return number;
    const { profileStarts, profilePool } = this.#data;
    const start = profileStarts[number]!;
    const words = profilePool.subarray(start, start + PROFILE_WORDS);
    for (const word of words.subarray(0, STRING_WORDS)) this.#string(word);
    for (const word of words.subarray(PLAIN_WORDS)) this.#set(word);
    const digest = this.#digest;
    digest.begin();
    for (const [at, word] of words.entries()) {
      if (at >= STRING_WORDS && at < PLAIN_WORDS) digest.word(word);
      else this.#add(at < STRING_WORDS ? this.#strings : this.#sets, word);
    }
    return this.#profiles.put(number, digest.low, digest.high);
  }

  #add(lanes: Lanes, number: number): void {
    this.#digest.word(lanes.low(number));
    this.#digest.word(lanes.high(number));
  }

  /** A sum over the entries: their order says nothing. */
  #set(number: number): number {
    if (this.#sets.has(number)) return number;
    const { setStarts, setPool } = this.#data;
    let low = 0;
    let high = 0;
    const end = setStarts[number + 1]!;
    for (let at = setStarts[number]!; at < end; at++) {
      const entry = this.#entry(setPool[at]!);
      low = (low + this.#entries.low(entry)) | 0;
      high = (high + this.#entries.high(entry)) | 0;
    }
    return this.#sets.put(number, low, high);
  }

  #entry(number: number): number {
    if (this.#entries.has(number)) return number;
    const { bytes, entryKeys, entryValueStarts, entryValueLengths } = this.#data;
    const key = this.#range(this.#keys, this.#data.keys, entryKeys[number]!);
    const start = entryValueStarts[number]!;
    const digest = this.#digest;
    digest.begin();
    this.#add(this.#keys, key);
    digest.bytes(bytes, start, start + entryValueLengths[number]!);
    return this.#entries.put(number, digest.low, digest.high);
  }

  #string(number: number): number {
    return this.#range(this.#strings, this.#data.strings, number);
  }

  #range(lanes: Lanes, ranges: Int32Array, number: number): number {
    if (lanes.has(number)) return number;
    const word = number * RANGE_WORDS;
    const start = ranges[word + RANGE_START]!;
    const digest = this.#digest;
    digest.begin();
    digest.bytes(this.#data.bytes, start, start + ranges[word + RANGE_LENGTH]!);
    return lanes.put(number, digest.low, digest.high);
  }
}

/** Digests by dense number, filled as they are asked for. */
class Lanes {
  #known: Uint8Array = new Uint8Array(FIRST_CAPACITY);
  #lows: Int32Array = new Int32Array(FIRST_CAPACITY);
  #highs: Int32Array = new Int32Array(FIRST_CAPACITY);

  has(number: number): boolean {
    return this.#known[number] === 1;
  }

  low(number: number): number {
    return this.#lows[number]!;
  }

  high(number: number): number {
    return this.#highs[number]!;
  }

  put(number: number, low: number, high: number): number {
    if (number >= this.#known.length) this.#grow(2 * number);
    this.#known[number] = 1;
    this.#lows[number] = low;
    this.#highs[number] = high;
    return number;
  }

  #grow(capacity: number): void {
    const known = new Uint8Array(capacity);
    const lows = new Int32Array(capacity);
    const highs = new Int32Array(capacity);
    known.set(this.#known);
    lows.set(this.#lows);
    highs.set(this.#highs);
    this.#known = known;
    this.#lows = lows;
    this.#highs = highs;
  }
}
