// The orders of needs across clusters, without comparing strings: within one cluster the
// normalised list is the order already, and clusters are ranked by name once.

import { compareText } from '../model/text-order.ts';
import type { Row } from '../needs/row.ts';
import type { Interner } from '../store/interner.ts';

export class ClusterRanks {
  readonly #clusters: Interner;
  #ranks: Int32Array = new Int32Array(0);
  #ranked = 0;

  constructor(clusters: Interner) {
    this.#clusters = clusters;
  }

  /** By cluster index; up to date. */
  get ranks(): Int32Array {
    const { size } = this.#clusters;
    if (this.#ranked === size) return this.#ranks;
    this.#ranked = size;
    const indexes = Array.from({ length: size }, (_, index) => index);
    indexes.sort((a, b) => compareText(this.#clusters.text(a), this.#clusters.text(b)));
    this.#ranks = new Int32Array(size);
    for (let rank = 0; rank < size; rank++) this.#ranks[indexes[rank] as number] = rank;
    return this.#ranks;
  }
}

/** Priority desc, then normalised order: crediting and Phase 2. */
export function compareByPriority(ranks: Int32Array, a: Row, b: Row): number {
  const byPriority = b.compiled.priority - a.compiled.priority;
  return byPriority !== 0 ? byPriority : compareNormalised(ranks, a, b);
}

/** Full precedence desc, then normalised order: acquisition. */
function compareByPrecedence(ranks: Int32Array, a: Row, b: Row): number {
  const left = a.compiled.profile;
  const right = b.compiled.profile;
  return (
    right.priority - left.priority ||
    right.interruptionBucket - left.interruptionBucket ||
    right.reclamationBucket - left.reclamationBucket ||
    compareNormalised(ranks, a, b)
  );
}

/** Among rows of one priority: folded rows last, older before younger, cluster, place in it. */
function compareNormalised(ranks: Int32Array, a: Row, b: Row): number {
  if (a.isFolded !== b.isFolded) return a.isFolded ? 1 : -1;
  if (!a.isFolded) {
    const byAge = a.arrivalHigh - b.arrivalHigh || a.arrivalLow - b.arrivalLow;
    if (byAge !== 0) return byAge;
  }
  return (
    (ranks[a.cluster] as number) - (ranks[b.cluster] as number) || a.result.index - b.result.index
  );
}

/**
 * Sorts rows that come cluster by cluster in rank order, each cluster's in normalised order.
 * One native sort of packed doubles; rows are touched once, in the order they came, because a
 * walk in any other order costs a cache miss per row. Scratch is reused.
 */
export class RowSorter {
  readonly #ranks: ClusterRanks;
  #keys: Float64Array = new Float64Array(0);
  #packed: Float64Array = new Float64Array(0);
  #arrivalHigh: Float64Array = new Float64Array(0);
  #arrivalLow: Float64Array = new Float64Array(0);
  readonly #rows: Row[] = [];

  constructor(ranks: ClusterRanks) {
    this.#ranks = ranks;
  }

  /** Full precedence desc: acquisition. */
  byPrecedence(rows: Row[]): void {
    this.#load(rows, (row) => row.compiled.precedence);
    this.#sort(rows, compareByPrecedence);
  }

  /** Priority desc: crediting and Phase 2. */
  byPriority(rows: Row[]): void {
    this.#load(rows, (row) => row.compiled.priority);
    this.#sort(rows, compareByPriority);
  }

  #load(rows: readonly Row[], keyOf: (row: Row) => number): void {
    if (this.#keys.length < rows.length) {
      const capacity = rows.length * 2;
      this.#keys = new Float64Array(capacity);
      this.#packed = new Float64Array(capacity);
      this.#arrivalHigh = new Float64Array(capacity);
      this.#arrivalLow = new Float64Array(capacity);
    }
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at] as Row;
      this.#keys[at] = keyOf(row);
      // Folded rows come after every other of their key, in the order they came.
      this.#arrivalHigh[at] = row.isFolded ? Number.POSITIVE_INFINITY : row.arrivalHigh;
      this.#arrivalLow[at] = row.isFolded ? 0 : row.arrivalLow;
    }
  }

  #sort(rows: Row[], compare: (ranks: Int32Array, a: Row, b: Row) => number): void {
    const count = rows.length;
    let highest = Number.NEGATIVE_INFINITY;
    let lowest = Number.POSITIVE_INFINITY;
    for (let at = 0; at < count; at++) {
      const key = this.#keys[at] as number;
      if (key > highest) highest = key;
      if (key < lowest) lowest = key;
    }
    if (count < 2) return;
    // Priorities at both ends of int32 leave no room for the place in one double.
    if ((highest - lowest + 1) * count > Number.MAX_SAFE_INTEGER) {
      const { ranks } = this.#ranks;
      rows.sort((a, b) => compare(ranks, a, b));
      return;
    }
    for (let at = 0; at < count; at++) {
      this.#packed[at] = (highest - (this.#keys[at] as number)) * count + at;
    }
    const packed = this.#packed.subarray(0, count).sort();
    this.#orderTies(packed, count);
    for (let at = 0; at < count; at++) this.#rows[at] = rows[(packed[at] as number) % count] as Row;
    for (let at = 0; at < count; at++) rows[at] = this.#rows[at] as Row;
    this.#rows.length = 0;
  }

  /** Rows of one key are in (cluster, place) order; where ages differ, the older goes first. */
  #orderTies(packed: Float64Array, count: number): void {
    let start = 0;
    while (start < count) {
      const key = Math.floor((packed[start] as number) / count);
      let end = start + 1;
      let isOrdered = true;
      while (end < count && Math.floor((packed[end] as number) / count) === key) {
        if (this.#isOlder(packed, count, end, end - 1)) isOrdered = false;
        end += 1;
      }
      if (!isOrdered) this.#sortByAge(packed, count, start, end);
      start = end;
    }
  }

  #isOlder(packed: Float64Array, count: number, a: number, b: number): boolean {
    return this.#compareAge((packed[a] as number) % count, (packed[b] as number) % count) < 0;
  }

  #compareAge(a: number, b: number): number {
    const high = (this.#arrivalHigh[a] as number) - (this.#arrivalHigh[b] as number);
    // Two folded rows: ∞ − ∞ is no number, and they keep their order.
    if (high !== 0 && !Number.isNaN(high)) return high;
    return (this.#arrivalLow[a] as number) - (this.#arrivalLow[b] as number);
  }

  #sortByAge(packed: Float64Array, count: number, start: number, end: number): void {
    const run = Array.from(packed.subarray(start, end));
    run.sort((a, b) => this.#compareAge(a % count, b % count) || a - b);
    packed.set(run, start);
  }
}
