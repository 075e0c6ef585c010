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
  readonly sets: EligibleSet[] = [];
  cells: Int32Array = new Int32Array(0);
  readonly candidates: CandidateCells = new CandidateCells();

  /** `rows` in normalised order, with their index set; the last `foldedCount` are folded. */
  rebuild(rows: readonly Row[], foldedCount: number): void {
    // A roll-up is in this order already; folded rows stand behind it.
    this.rows = foldedCount === 0 ? rows : byPriority(rows, rows.length - foldedCount);
    const needed = rows.length * NEED_CELL;
    if (this.cells.length < needed) this.cells = new Int32Array(needed);
    this.sets.length = 0;
    rebuilds += 1;
    for (let at = 0; at < rows.length; at++) this.#write(at * NEED_CELL, this.rows[at] as Row);
    this.candidates.setUp(this.sets);
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

/** Merges rows and folded rows, each by priority desc; of equals the rows go first. */
function byPriority(rows: readonly Row[], foldedStart: number): Row[] {
  const folded = rows.slice(foldedStart);
  folded.sort((a, b) => b.compiled.priority - a.compiled.priority);
  const merged: Row[] = [];
  let next = 0;
  for (let at = 0; at < foldedStart; at++) {
    const row = rows[at] as Row;
    while (next < folded.length && isHigher(folded[next] as Row, row)) {
      merged.push(folded[next++] as Row);
    }
    merged.push(row);
  }
  while (next < folded.length) merged.push(folded[next++] as Row);
  return merged;
}

function isHigher(a: Row, b: Row): boolean {
  return a.compiled.priority > b.compiled.priority;
}
