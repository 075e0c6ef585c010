// The folded rows of one cluster: gangs that fit on one machine are co-located by fitting, and as
// whole-machine gangs they would each round up to a machine of their own. All gangs of one size
// and profile become one plain need in which each machine must still host one whole gang.
// A fold that gains or loses gangs keeps its row, which is resized.

import { compareText } from '@bigfleet/base';
import { earliest, type Need } from '../model/need.ts';
import type { Resources } from '../model/resources.ts';
import { createRow, releaseRow, resizeRow, type RowContext } from '../needs/needs-table.ts';
import type { Row } from '../needs/row.ts';
import type { VectorTable } from '../store/dimensions.ts';

interface Fold {
  readonly key: string;
  /** One of the gangs. */
  gang: Row;
  count: number;
  arrival: bigint;
  /** The evaluation that last saw a gang of it. */
  seenBy: number;
  row: Row | undefined;
}

export class GangFolds {
  readonly #cluster: number;
  readonly #folds = new Map<string, Fold>();
  #evaluation = 0;
  #rows: readonly Row[] = [];

  constructor(cluster: number) {
    this.#cluster = cluster;
  }

  begin(): void {
    this.#evaluation += 1;
  }

  /** A gang that folds. */
  add(gang: Row): void {
    const { arrivalUnixNanos } = gang.need;
    let fold = this.#folds.get(gang.gangKey);
    if (fold === undefined) {
      fold = {
        key: gang.gangKey,
        gang,
        count: 0,
        arrival: arrivalUnixNanos,
        seenBy: 0,
        row: undefined,
      };
      this.#folds.set(gang.gangKey, fold);
    }
    if (fold.seenBy !== this.#evaluation) {
      fold.seenBy = this.#evaluation;
      fold.gang = gang;
      fold.count = 0;
      fold.arrival = arrivalUnixNanos;
    }
    fold.count += 1;
    fold.arrival = earliest(fold.arrival, arrivalUnixNanos);
  }

  /** The folded rows in normalised order: the same list when nothing changed. */
  finish(context: RowContext): readonly Row[] {
    const hasNew = this.#updateRows(context);
    const hasGone = this.#dropFolds(context);
    if (!hasNew && !hasGone) return this.#rows;
    const rows: Row[] = [];
    for (const { row } of this.#folds.values()) if (row !== undefined) rows.push(row);
    this.#rows = rows.sort(compareFolded);
    return this.#rows;
  }

  /** Gives back everything. */
  dispose(context: RowContext): void {
    this.begin();
    this.finish(context);
  }

  #updateRows(context: RowContext): boolean {
    let hasNew = false;
    for (const fold of this.#folds.values()) {
      if (fold.seenBy !== this.#evaluation) continue;
      if (fold.row === undefined) {
        fold.row = createRow(context, this.#cluster, foldedNeed(fold), true);
        hasNew = true;
      } else if (!isSameFold(context.vectors, fold.row, fold))
        resizeRow(context, fold.row, foldedNeed(fold));
    }
    return hasNew;
  }

  #dropFolds(context: RowContext): boolean {
    let hasGone = false;
    for (const fold of this.#folds.values()) {
      if (fold.seenBy === this.#evaluation) continue;
      if (fold.row !== undefined) releaseRow(context, fold.row);
      this.#folds.delete(fold.key);
      hasGone = true;
    }
    return hasGone;
  }
}

function isSameFold({ values, stride }: VectorTable, row: Row, fold: Fold): boolean {
  if (row.need.arrivalUnixNanos !== fold.arrival) return false;
  const gang = fold.gang.aggregate * stride;
  const folded = row.aggregate * stride;
  for (let d = 0; d < stride; d++) {
    if (values[folded + d] !== saturated(values[gang + d]! * fold.count)) return false;
  }
  return true;
}

function foldedNeed({ gang, count, arrival }: Fold): Need {
  return {
    cluster: gang.need.cluster,
    profile: gang.compiled.strippedProfile,
    aggregate: scaled(gang.need.aggregate, count),
    minUnit: gang.need.aggregate,
    group: '',
    arrivalUnixNanos: arrival,
  };
}

function scaled(resources: Resources, by: number): Resources {
  const product = new Map<string, number>();
  // By name: a pair per entry is an allocation.
  for (const name of resources.keys()) {
    product.set(name, saturated((resources.get(name) as number) * by));
  }
  return product;
}

function saturated(value: number): number {
  return Math.min(value, Number.MAX_SAFE_INTEGER);
}

/** By stripped fingerprint, then the size of one gang. */
function compareFolded(a: Row, b: Row): number {
  return (
    compareText(a.need.profile.fingerprint, b.need.profile.fingerprint) ||
    compareText(a.eligibleKey, b.eligibleKey)
  );
}
