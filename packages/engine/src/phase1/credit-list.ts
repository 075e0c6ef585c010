// The needs of one cluster in the order of crediting, packed: what crediting reads and writes of
// a need that comes out as before stands in one flat run, because visiting the need itself costs
// a cache miss per object, for half a million machines more than all arithmetic.

import type { EligibleSet } from '../match/eligible-set.ts';
import type { Row } from '../needs/row.ts';
import { CandidateCells } from './candidate-cells.ts';

/** The numbers of one need in `cells`. */
export const AGGREGATE = 0;
export const PRIORITY = 1;
/** What its claims are marked with. */
export const MARK = 2;
/** Where the rest is written that crediting leaves open. */
export const REST = 3;
/** What the need's result says: machines × 2, plus 1 when they cover it. */
export const OUTCOME = 4;
export const IS_ALWAYS_SERVED = 5;
export const IS_PINNED = 6;
export const IS_SAME = 7;
/** Which of the `sets` it may use. */
export const SET = 8;
export const NEED_CELL = 9;

const NOT_WRITTEN = -1;

export class CreditList {
  /** By priority desc, stable over normalised order. */
  rows: readonly Row[] = [];
  readonly #merged: Row[] = [];
  /** Without duplicates. */
  readonly sets: EligibleSet[] = [];
  cells: Int32Array = new Int32Array(0);
  readonly candidates: CandidateCells = new CandidateCells();

  /** `rows` in normalised order, with their index set; the last `foldedCount` are folded. */
  rebuild(rows: readonly Row[], foldedCount: number): void {
    // A roll-up is in this order already; folded rows stand behind it.
    this.rows = foldedCount === 0 ? rows : this.#byPriority(rows, rows.length - foldedCount);
    const needed = rows.length * NEED_CELL;
    if (this.cells.length < needed) this.cells = new Int32Array(needed);
    this.sets.length = 0;
    rebuilds += 1;
    for (let at = 0; at < rows.length; at++) this.#write(at * NEED_CELL, this.rows[at]!);
    this.candidates.setUp(this.sets);
  }

  /** Merges rows and folded rows, each by priority desc; of equals the rows go first. */
  #byPriority(rows: readonly Row[], foldedStart: number): readonly Row[] {
    const folded = foldedByPriority(rows, foldedStart);
    const foldedCount = rows.length - foldedStart;
    const merged = this.#merged;
    let count = 0;
    let next = 0;
    for (let at = 0; at < foldedStart; at++) {
      const row = rows[at]!;
      while (next < foldedCount && isHigher(folded[next]!, row)) {
        merged[count++] = folded[next++]!;
      }
      merged[count++] = row;
    }
    while (next < foldedCount) merged[count++] = folded[next++]!;
    if (merged.length > count) merged.length = count;
    return merged;
  }

  #placeOf(set: EligibleSet): number {
    if (set.listedBy !== rebuilds) {
      set.listedBy = rebuilds;
      set.listPlace = this.sets.length;
      this.sets.push(set);
    }
    return set.listPlace;
  }

  #write(at: number, { aggregate, compiled, eligible, result, isAlwaysServed }: Row): void {
    const { cells } = this;
    cells[at + AGGREGATE] = aggregate;
    cells[at + PRIORITY] = compiled.priority;
    cells[at + MARK] = result.index + 1;
    cells[at + REST] = result.afterCredit;
    cells[at + OUTCOME] = NOT_WRITTEN;
    cells[at + IS_ALWAYS_SERVED] = isAlwaysServed ? 1 : 0;
    cells[at + IS_PINNED] = compiled.isPinned ? 1 : 0;
    cells[at + IS_SAME] = compiled.sameKey === undefined ? 0 : 1;
    cells[at + SET] = this.#placeOf(eligible);
  }
}

/** Names the rebuild that an eligible set was last listed by. */
let rebuilds = 0;

/** Folded rows are put in order here; what stands behind them is of another cluster. */
const scratch: Row[] = [];
/** Below this an insertion is cheaper than a sort, which allocates. */
const FEW_ROWS = 64;

function foldedByPriority(rows: readonly Row[], start: number): readonly Row[] {
  const count = rows.length - start;
  if (count > FEW_ROWS) {
    return rows.slice(start).sort((a, b) => b.compiled.priority - a.compiled.priority);
  }
  for (let from = 0; from < count; from++) {
    const row = rows[start + from]!;
    let at = from;
    for (; at > 0 && isHigher(row, scratch[at - 1]!); at--) scratch[at] = scratch[at - 1]!;
    scratch[at] = row;
  }
  return scratch;
}

function isHigher(a: Row, b: Row): boolean {
  return a.compiled.priority > b.compiled.priority;
}
