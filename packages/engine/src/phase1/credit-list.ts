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
  /** Without duplicates. */
  sets: readonly EligibleSet[] = [];
  cells: Int32Array = new Int32Array(0);
  readonly candidates: CandidateCells = new CandidateCells();

  /** `rows` in normalised order, with their index set. */
  rebuild(rows: readonly Row[], hasFolded: boolean): void {
    // A roll-up is in this order already; folded rows stand behind it.
    this.rows = hasFolded
      ? [...rows].sort((a, b) => b.compiled.priority - a.compiled.priority)
      : rows;
    const sets = new Map<EligibleSet, number>();
    this.cells = new Int32Array(rows.length * NEED_CELL);
    for (const [at, row] of this.rows.entries()) {
      let set = sets.get(row.eligible);
      if (set === undefined) sets.set(row.eligible, (set = sets.size));
      this.#write(at * NEED_CELL, row, set);
    }
    this.sets = [...sets.keys()];
    this.candidates.setUp(this.sets);
  }

  #write(at: number, { aggregate, compiled, result, isAlwaysServed }: Row, set: number): void {
    const { cells } = this;
    cells[at + AGGREGATE] = aggregate;
    cells[at + PRIORITY] = compiled.priority;
    cells[at + MARK] = result.index + 1;
    cells[at + REST] = result.afterCredit;
    cells[at + OUTCOME] = NOT_WRITTEN;
    cells[at + IS_ALWAYS_SERVED] = isAlwaysServed ? 1 : 0;
    cells[at + IS_PINNED] = compiled.isPinned ? 1 : 0;
    cells[at + IS_SAME] = compiled.sameKey === undefined ? 0 : 1;
    cells[at + SET] = set;
  }
}
