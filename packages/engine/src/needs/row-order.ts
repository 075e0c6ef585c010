// The orders of needs across clusters, without comparing strings: within one cluster the
// normalised list is the order already, and clusters are ranked by name once.

import { compareText } from '@bigfleet/base';
import type { Row } from './row.ts';
import type { Interner } from '../store/interner.ts';
import { RadixOrder } from './radix-order.ts';

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
    for (let rank = 0; rank < size; rank++) this.#ranks[indexes[rank]!] = rank;
    return this.#ranks;
  }
}

/** Priority desc, then normalised order: crediting and Phase 2. */
export function compareByPriority(ranks: Int32Array, a: Row, b: Row): number {
  const byPriority = b.compiled.priority - a.compiled.priority;
  return byPriority !== 0 ? byPriority : compareNormalised(ranks, a, b);
}

/** Among rows of one priority: folded rows last, older before younger, cluster, place in it. */
function compareNormalised(ranks: Int32Array, a: Row, b: Row): number {
  if (a.isFolded !== b.isFolded) return a.isFolded ? 1 : -1;
  if (!a.isFolded) {
    const byAge = a.arrivalHigh - b.arrivalHigh || a.arrivalLow - b.arrivalLow;
    if (byAge !== 0) return byAge;
  }
  return ranks[a.cluster]! - ranks[b.cluster]! || a.result.index - b.result.index;
}

/** Above every precedence and every priority: keys ascend where they descend. */
const ABOVE_PRECEDENCE = 2 ** 41;
const TWO_32 = 2 ** 32;
const TWO_31 = 2 ** 31;

/**
 * Sorts rows that come cluster by cluster in rank order, each cluster's in normalised order.
 * Rows are touched once, in the order they came, because a walk in any other order costs a cache
 * miss per row. Scratch is reused.
 */
export class RowSorter {
  readonly #radix: RadixOrder = new RadixOrder();
  /** Age, then rank; each as two columns, the low half first. */
  #columns: readonly Uint32Array[] = [];
  #capacity = 0;
  readonly #rows: Row[] = [];

  /** Full precedence desc: acquisition. */
  byPrecedence(rows: Row[]): void {
    this.#reserve(rows.length);
    for (let at = 0; at < rows.length; at++) this.#load(at, rows[at]!, true);
    this.#sort(rows);
  }

  /** Priority desc: crediting and Phase 2. */
  byPriority(rows: Row[]): void {
    this.#reserve(rows.length);
    for (let at = 0; at < rows.length; at++) this.#load(at, rows[at]!, false);
    this.#sort(rows);
  }

  #reserve(count: number): void {
    if (count <= this.#capacity) return;
    this.#capacity = count * 2;
    this.#columns = Array.from({ length: 4 }, () => new Uint32Array(this.#capacity));
  }

  /** Fetches the number itself: handed over, one beyond 2³¹ would be an allocation. */
  #load(at: number, row: Row, isFull: boolean): void {
    const [ageLow, ageHigh, rankLow, rankHigh] = this.#columns as FourColumns;
    const precedence = isFull ? row.compiled.precedence : row.compiled.priority;
    // Folded rows come after every other of their rank, in the order they came.
    const rank = (ABOVE_PRECEDENCE - precedence) * 2 + (row.isFolded ? 1 : 0);
    ageLow[at] = row.isFolded ? 0 : row.arrivalLow;
    ageHigh[at] = row.isFolded ? 0 : row.arrivalHigh + TWO_31;
    rankLow[at] = rank % TWO_32;
    rankHigh[at] = Math.floor(rank / TWO_32);
  }

  #sort(rows: Row[]): void {
    const count = rows.length;
    if (count < 2) return;
    const order = this.#radix.sort(this.#columns, count);
    for (let at = 0; at < count; at++) this.#rows[at] = rows[order[at]!]!;
    for (let at = 0; at < count; at++) rows[at] = this.#rows[at]!;
    this.#rows.length = 0;
  }
}

type FourColumns = readonly [Uint32Array, Uint32Array, Uint32Array, Uint32Array];
