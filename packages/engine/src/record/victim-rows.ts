// Bound machines of one kind and one fate as one row: same class, effective priority, penalties
// and outcome. A bounded number of rows, each with an exact count and a few names; what finds no
// row any more is not counted anywhere, and `isTruncated` says that it happened.

import type { Columns } from '../store/columns.ts';
import { MAX_CANDIDATES, MAX_NAMED_VICTIMS } from './format.ts';

export interface VictimRow {
  readonly klass: number;
  readonly priority: number;
  readonly interruptionBucket: number;
  readonly reclamationBucket: number;
  readonly code: number;
  /** As compared; without meaning for machines that were not scored. */
  readonly score: number;
  count: number;
  /** Slots, by id. */
  readonly named: number[];
}

export class VictimRows {
  readonly #columns: Columns;
  readonly rows: VictimRow[] = [];
  isTruncated = false;

  constructor(columns: Columns) {
    this.#columns = columns;
  }

  clear(): void {
    this.rows.length = 0;
    this.isTruncated = false;
  }

  add(slot: number, priority: number, code: number, score: number): void {
    const row = this.#rowFor(slot, priority, code, score);
    if (row === undefined) {
      this.isTruncated = true;
      return;
    }
    row.count += 1;
    this.#name(row.named, slot);
  }

  #rowFor(slot: number, priority: number, code: number, score: number): VictimRow | undefined {
    const { rows } = this;
    const columns = this.#columns;
    const klass = columns.klass[slot]!;
    const interruptionBucket = columns.interruptionBucket[slot]!;
    const reclamationBucket = columns.reclamationBucket[slot]!;
    // Machines of one kind follow each other: the last row first.
    for (let at = rows.length - 1; at >= 0; at--) {
      const row = rows[at] as VictimRow;
      if (
        row.klass === klass &&
        row.priority === priority &&
        row.code === code &&
        row.interruptionBucket === interruptionBucket &&
        row.reclamationBucket === reclamationBucket
      )
        return row;
    }
    if (rows.length >= MAX_CANDIDATES) return undefined;
    const named: number[] = [];
    const penalties = { interruptionBucket, reclamationBucket };
    const row = { klass, priority, ...penalties, code, score, count: 0, named };
    rows.push(row);
    return row;
  }

  /** The lowest ids, whatever the order in which an index holds them. */
  #name(named: number[], slot: number): void {
    const { rank } = this.#columns;
    const own = rank[slot]!;
    let at = named.length;
    while (at > 0 && rank[named[at - 1]!]! > own) at -= 1;
    if (at >= MAX_NAMED_VICTIMS) return;
    named.splice(at, 0, slot);
    if (named.length > MAX_NAMED_VICTIMS) named.pop();
  }
}
