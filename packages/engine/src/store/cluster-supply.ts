// The machines of one cluster, arranged for crediting: one flat run of numbers in the order of
// crediting, so that a pass over a cluster reads memory front to back and never follows a
// machine into its columns. Sections: Configured, Configuring, Creating for this cluster; each
// in keep order (price asc, reclamation penalty desc, id asc).
//
// Writes only name the slots they touched. The run is put in order when it is next read, from
// what the columns say then: a cluster that gets a thousand machines is arranged once.
// Cost: 16 bytes per machine; arranging n machines of which k changed, n moved words and
// k log n comparisons.

import { State } from '../model/state.ts';
import type { Classes } from './classes.ts';
import type { Columns } from './columns.ts';

/** The numbers of one machine in `cells`. */
export const SLOT = 0;
export const CLASS = 1;
/** What preemption compares; the same as in the column, beside the claim that decides it. */
export const EFFECTIVE_PRIORITY = 2;
/** Row of the cluster's demand that credits the machine, plus 1; 0 unclaimed. */
export const CLAIM = 3;
export const CELL = 4;

/** What arranging reads of a machine. */
export type KeepColumns = Pick<
  Columns,
  'state' | 'cluster' | 'intended' | 'klass' | 'reclamationBucket' | 'rank' | 'effectivePriority'
>;

const SECTIONS = 3;
/** So many touched slots, and as many as four times the machines, are kept in no order. */
const MIN_TOUCHED = 64;

export class ClusterSupply {
  readonly #cluster: number;
  readonly #columns: KeepColumns;
  readonly #classes: Pick<Classes, 'price'>;
  /** Slots whose place is unknown: they may have come, gone or changed; with repetitions. */
  readonly #touched: number[] = [];
  #arrangement = 0;
  #cells: Int32Array = new Int32Array(0);
  /** Where each section ends. */
  readonly #ends: [number, number, number] = [0, 0, 0];

  constructor(cluster: number, columns: KeepColumns, classes: Pick<Classes, 'price'>) {
    this.#cluster = cluster;
    this.#columns = columns;
    this.#classes = classes;
  }

  /** A machine that was or is this cluster's was written. */
  touch(slot: number): void {
    if (this.#touched.length > this.#ends[2] + MIN_TOUCHED) this.#arrange();
    this.#touched.push(slot);
  }

  /** Counts arrangements: what is known about places holds while it stays. */
  get arrangement(): number {
    if (this.#touched.length > 0) this.#arrange();
    return this.#arrangement;
  }

  /** In order; the other members say where sections end. */
  get cells(): Int32Array {
    if (this.#touched.length > 0) this.#arrange();
    return this.#cells;
  }

  /** Where the Configured machines end in `cells`. */
  get configuredEnd(): number {
    if (this.#touched.length > 0) this.#arrange();
    return this.#ends[0];
  }

  /** Where the Configuring machines end and the machines in creation begin. */
  get boundEnd(): number {
    if (this.#touched.length > 0) this.#arrange();
    return this.#ends[1];
  }

  get end(): number {
    if (this.#touched.length > 0) this.#arrange();
    return this.#ends[2];
  }

  get isEmpty(): boolean {
    return this.end === 0;
  }

  get configuredCount(): number {
    return this.configuredEnd / CELL;
  }

  /** Every machine is unclaimed again. */
  resetClaims(): void {
    const { cells, end } = this;
    for (let at = CLAIM; at < end; at += CELL) cells[at] = 0;
  }

  /** Whether a need of the cluster claims this bound machine. */
  isClaimed(slot: number): boolean {
    const { cells } = this;
    const section = this.#sectionOf(slot);
    if (section < 0) return false;
    return cells[this.#place(slot, section, this.end) + CLAIM] !== 0;
  }

  #arrange(): void {
    this.#arrangement += 1;
    const slots = this.#touched;
    sort(slots, ascending);
    this.#drop(slots);
    let count = 0;
    let last = -1;
    for (let at = 0; at < slots.length; at++) {
      const slot = slots[at]!;
      if (slot !== last && this.#sectionOf(slot) >= 0) slots[count++] = slot;
      last = slot;
    }
    slots.length = count;
    sort(slots, this.#compare);
    this.#insert(slots);
    slots.length = 0;
  }

  /** Leaves out the slots of an ascending list. */
  #drop(slots: readonly number[]): void {
    const cells = this.#cells;
    let from = 0;
    let to = 0;
    for (let section = 0; section < SECTIONS; section++) {
      const end = this.#ends[section]!;
      for (; from < end; from += CELL) {
        if (includes(slots, cells[from]!)) continue;
        if (from !== to) cells.copyWithin(to, from, from + CELL);
        to += CELL;
      }
      this.#ends[section] = to;
    }
  }

  /** From the last to the first, so that everybody behind moves once. */
  #insert(added: readonly number[]): void {
    let end = this.#ends[2];
    this.#reserve(end + added.length * CELL);
    const cells = this.#cells;
    for (let left = added.length; left > 0; left--) {
      const slot = added[left - 1]!;
      const section = this.#sectionOf(slot);
      const place = this.#place(slot, section, end);
      cells.copyWithin(place + left * CELL, place, end);
      end = place;
      this.#write(place + (left - 1) * CELL, slot);
    }
    for (let at = 0; at < added.length; at++) {
      for (let section = this.#sectionOf(added[at]!); section < SECTIONS; section++) {
        this.#ends[section] = this.#ends[section]! + CELL;
      }
    }
  }

  #write(at: number, slot: number): void {
    const cells = this.#cells;
    cells[at + SLOT] = slot;
    cells[at + CLASS] = this.#columns.klass[slot]!;
    cells[at + EFFECTIVE_PRIORITY] = this.#columns.effectivePriority[slot]!;
    cells[at + CLAIM] = 0;
  }

  /** Room for so many numbers, and not four times as much as that. */
  #reserve(needed: number): void {
    const { length } = this.#cells;
    if (needed <= length && needed * 4 >= length) return;
    const cells = new Int32Array(needed + ((needed >>> 3) & ~(CELL - 1)) + CELL);
    cells.set(this.#cells.subarray(0, this.#ends[2]));
    this.#cells = cells;
  }

  /** −1 when the machine is not this cluster's. */
  #sectionOf(slot: number): number {
    const { state, cluster, intended } = this.#columns;
    switch (state[slot]) {
      case State.Configured:
        return cluster[slot] === this.#cluster ? 0 : -1;
      case State.Configuring:
        return cluster[slot] === this.#cluster ? 1 : -1;
      case State.Creating:
        return intended[slot] === this.#cluster ? 2 : -1;
      default:
        return -1;
    }
  }

  /** Where the machine stands in its section, or where it belongs; not behind `limit`. */
  #place(slot: number, section: number, limit: number): number {
    let low = section === 0 ? 0 : this.#ends[section - 1]! / CELL;
    let high = Math.min(this.#ends[section]!, limit) / CELL;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compareKeep(this.#cells[middle * CELL]!, slot) < 0) low = middle + 1;
      else high = middle;
    }
    return low * CELL;
  }

  readonly #compare = (a: number, b: number): number =>
    this.#sectionOf(a) - this.#sectionOf(b) || this.#compareKeep(a, b);

  /** Keep order: price asc, reclamation penalty desc, id asc. */
  #compareKeep(a: number, b: number): number {
    const { klass, reclamationBucket, rank } = this.#columns;
    const { price } = this.#classes;
    return (
      price[klass[a]!]! - price[klass[b]!]! ||
      reclamationBucket[b]! - reclamationBucket[a]! ||
      rank[a]! - rank[b]!
    );
  }
}

/** A native sort allocates, for the one or two slots of a steady cycle too. */
const SHORT_LIST = 16;

function sort(list: number[], compare: (a: number, b: number) => number): void {
  if (list.length > SHORT_LIST) {
    list.sort(compare);
    return;
  }
  for (let end = 1; end < list.length; end++) {
    const moved = list[end]!;
    let at = end;
    for (; at > 0 && compare(list[at - 1]!, moved) > 0; at--) {
      list[at] = list[at - 1]!;
    }
    list[at] = moved;
  }
}

function ascending(a: number, b: number): number {
  return a - b;
}

/** In an ascending list. */
function includes(list: readonly number[], wanted: number): boolean {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (list[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return list[low] === wanted;
}
