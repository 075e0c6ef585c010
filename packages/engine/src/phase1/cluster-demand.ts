// One cluster's normalised demand and what crediting made of it: the memo that lets a steady
// cycle re-evaluate only the clusters that changed.

import type { NeedsTable, RowContext } from '../needs/needs-table.ts';
import type { Row } from '../needs/row.ts';
import { CreditList } from './credit-list.ts';
import type { FoldKeys } from '../needs/fold-keys.ts';
import type { Foldability } from './foldable.ts';
import { GangFolds } from './gang-folds.ts';

/** What all clusters share when they normalise. */
export interface NormaliseContext {
  readonly needs: NeedsTable;
  readonly rows: RowContext;
  readonly foldKeys: FoldKeys;
  readonly foldability: Foldability;
}

export class ClusterDemand {
  readonly cluster: number;
  /** Rows in normalised order: pass-through, then folded. */
  normalised: readonly Row[] = [];
  /** The same in the order of crediting. */
  readonly list: CreditList = new CreditList();
  /** Needs of the list that the evaluation has credited so far. */
  creditedUntil = 0;
  /** A Same need must look at the shared pools, so every cycle credits this cluster again. */
  dependsOnPools = false;
  /** Rows that crediting left open, in normalised order. */
  readonly open: Row[] = [];
  /** Configured machines without a claim, in release order. */
  excess: readonly number[] = [];
  /** Some need was held off when the flags were last set. */
  hasHeldBack = false;
  #source: readonly Row[] = [];
  #hasGangs = false;
  /** The normalised list where it is not the roll-up itself; written over when it changes. */
  readonly #own: Row[] = [];
  readonly #folds: GangFolds;

  constructor(cluster: number) {
    this.cluster = cluster;
    this.#folds = new GangFolds(cluster);
  }

  get hasGangs(): boolean {
    return this.#hasGangs;
  }

  /** Rebuilds the normalised rows from the roll-up and the present supply. */
  normalise(context: NormaliseContext): void {
    const rows = context.needs.rowsOf(this.cluster);
    const hadGangs = this.#hasGangs;
    if (rows !== this.#source) {
      this.#hasGangs = hasGang(rows);
      if (hadGangs || this.#hasGangs) followFoldKeys(this.#source, rows, context.foldKeys);
      this.#source = rows;
    }
    // Without gangs there is nothing to fold, and the roll-up itself is the normalised list.
    if (this.#hasGangs || hadGangs) this.#fold(context);
    else if (rows !== this.normalised) this.#take(rows, 0);
  }

  #fold({ rows: context, foldability }: NormaliseContext): void {
    const rows = scratch;
    let count = 0;
    this.#folds.begin();
    foldability.begin(this.cluster, this.#source);
    for (let at = 0; at < this.#source.length; at++) {
      const row = this.#source[at]!;
      if (row.compiled.sameKey !== undefined && foldability.isFoldable(row)) this.#folds.add(row);
      else rows[count++] = row;
    }
    const folded = this.#folds.finish(context);
    for (let at = 0; at < folded.length; at++) rows[count++] = folded[at]!;
    if (isSameList(rows, count, this.normalised)) return;
    this.#take(copyInto(this.#own, rows, count), folded.length);
  }

  #take(rows: readonly Row[], foldedCount: number): void {
    this.normalised = rows;
    for (let at = 0; at < rows.length; at++) rows[at]!.result.index = at;
    this.list.rebuild(rows, foldedCount);
  }

  /** Gives back everything; the cluster has neither demand nor supply. */
  dispose({ rows, foldKeys }: NormaliseContext): void {
    followFoldKeys(this.#source, [], foldKeys);
    this.#source = [];
    this.#folds.dispose(rows);
  }
}

/**
 * Normalised rows are gathered here: most evaluations find those of before. It is never emptied,
 * because a list that is emptied gives its memory away.
 */
const scratch: Row[] = [];

function hasGang(rows: readonly Row[]): boolean {
  // Indexed, like every loop of a cycle over rows: an iterator is an allocation per step.
  for (let at = 0; at < rows.length; at++) {
    if (rows[at]!.compiled.sameKey !== undefined) return true;
  }
  return false;
}

function copyInto(into: Row[], rows: readonly Row[], count: number): readonly Row[] {
  for (let at = 0; at < count; at++) into[at] = rows[at]!;
  if (into.length > count) into.length = count;
  return into;
}

function isSameList(a: readonly Row[], count: number, b: readonly Row[]): boolean {
  if (count !== b.length) return false;
  for (let at = 0; at < count; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Names a change of a roll-up, so that rows which stay are told from rows which go. */
let changes = 0;

/** Keeps the fold keys' user counts in step with the roll-up. */
function followFoldKeys(before: readonly Row[], now: readonly Row[], foldKeys: FoldKeys): void {
  changes += 1;
  for (let at = 0; at < now.length; at++) now[at]!.result.keptBy = changes;
  for (let at = 0; at < before.length; at++) {
    const row = before[at]!;
    if (row.result.keptBy !== changes) foldKeys.release(row);
  }
  for (let at = 0; at < now.length; at++) {
    const row = now[at]!;
    const isNew = row.compiled.sameKey !== undefined && row.result.foldKey === undefined;
    if (isNew) foldKeys.retain(row);
  }
}
