// One cluster's normalised demand and what crediting made of it: the memo that lets a steady
// cycle re-evaluate only the clusters that changed. Also the fold itself: gangs that fit on one
// machine are co-located by fitting, and as whole-machine gangs they would each round up to a
// machine of their own.

import { compareText } from '../model/text-order.ts';
import type { Need } from '../model/need.ts';
import { earliest } from '../model/need.ts';
import { withoutSame } from '../model/profile.ts';
import type { Resources } from '../model/resources.ts';
import { covers } from '../model/resources.ts';
import type { NeedsTable, RowContext } from '../needs/needs-table.ts';
import { createRow, releaseRow } from '../needs/needs-table.ts';
import type { Row } from '../needs/row.ts';
import { CELL, CLASS, type ClusterSupply, SLOT } from '../store/cluster-supply.ts';
import type { Inventory } from '../store/inventory.ts';
import { CreditList } from './credit-list.ts';
import type { FoldKeys } from './fold-keys.ts';
import { mayServeBound } from './may-serve.ts';

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
  hasHeldOff = false;
  #source: readonly Row[] = [];
  #hasGangs = false;
  #hadGangs = false;
  #folded: Row[] = [];
  readonly #foldedByKey = new Map<string, Row>();

  constructor(cluster: number) {
    this.cluster = cluster;
  }

  /** Rebuilds the normalised rows from the roll-up and the present supply. */
  normalise(inventory: Inventory, needs: NeedsTable, folds: FoldKeys, context: RowContext): void {
    this.#follow(needs.rowsOf(this.cluster), folds);
    // Without gangs there is nothing to fold, and the roll-up itself is the normalised list.
    const rows = this.#hasGangs ? this.#fold(inventory, context) : this.#source;
    if (isSameList(rows, this.normalised)) return;
    this.normalised = rows;
    for (let at = 0; at < rows.length; at++) (rows[at] as Row).result.index = at;
    this.list.rebuild(rows, this.#folded.length > 0);
  }

  get hasGangs(): boolean {
    return this.#hasGangs;
  }

  #fold(inventory: Inventory, context: RowContext): Row[] {
    const rows: Row[] = [];
    const gangs = new Map<string, Fold>();
    const incumbents = incumbentsOf(inventory, this.cluster, this.#source);
    for (const row of this.#source) {
      if (row.compiled.sameKey === undefined || !isFoldable(row, inventory, incumbents)) {
        rows.push(row);
      } else {
        addFold(gangs, row);
      }
    }
    rows.push(...this.#rebuildFolded(gangs, context));
    return rows;
  }

  /** Keeps the fold keys' user counts in step with the roll-up. */
  #follow(rows: readonly Row[], folds: FoldKeys): void {
    if (rows === this.#source) return;
    // Folded rows of before go with the last gang.
    this.#hasGangs = this.#hadGangs || rows.some((row) => row.compiled.sameKey !== undefined);
    this.#hadGangs = rows.some((row) => row.compiled.sameKey !== undefined);
    if (this.#hasGangs) {
      const kept = new Set(rows);
      for (const row of this.#source) if (!kept.has(row)) folds.release(row);
      for (const row of rows) {
        const isNew = row.compiled.sameKey !== undefined && row.result.foldKey === undefined;
        if (isNew) folds.retain(row);
      }
    }
    this.#source = rows;
  }

  /** Folded rows that did not change keep their compiled form. */
  #rebuildFolded(gangs: ReadonlyMap<string, Fold>, context: RowContext): Row[] {
    const old = this.#folded;
    if (old.length === 0 && gangs.size === 0) return old;
    const rows: Row[] = [];
    for (const [key, fold] of gangs) {
      const known = this.#foldedByKey.get(key);
      const row =
        known !== undefined && isSameFold(known, fold)
          ? known
          : createRow(context, this.cluster, foldedNeed(fold), true);
      this.#foldedByKey.set(key, row);
      rows.push(row);
    }
    rows.sort(compareFolded);
    const kept = new Set(rows);
    for (const row of old) if (!kept.has(row)) releaseRow(context, row);
    for (const [key, row] of this.#foldedByKey) if (!kept.has(row)) this.#foldedByKey.delete(key);
    this.#folded = rows;
    return rows;
  }

  /** Gives back everything; the cluster has neither demand nor supply. */
  dispose(folds: FoldKeys, context: RowContext): void {
    this.#follow([], folds);
    for (const row of this.#folded) releaseRow(context, row);
    this.#folded = [];
    this.#foldedByKey.clear();
  }
}

function isSameList(a: readonly Row[], b: readonly Row[]): boolean {
  if (a === b) return true;
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}

interface Fold {
  readonly row: Row;
  count: number;
  arrival: bigint;
}

function isSameFold({ need }: Row, { row, count, arrival }: Fold): boolean {
  if (need.arrivalUnixNanos !== arrival) return false;
  for (const [name, value] of row.need.aggregate) {
    if (need.aggregate.get(name) !== saturated(value * count)) return false;
  }
  return true;
}

function addFold(gangs: Map<string, Fold>, row: Row): void {
  const { gangKey: key } = row;
  const fold = gangs.get(key);
  if (fold === undefined) {
    gangs.set(key, { row, count: 1, arrival: row.need.arrivalUnixNanos });
    return;
  }
  fold.count += 1;
  fold.arrival = earliest(fold.arrival, row.need.arrivalUnixNanos);
}

/** One plain need for all gangs of a size: each machine must still host one whole gang. */
function foldedNeed({ row, count, arrival }: Fold): Need {
  return {
    cluster: row.need.cluster,
    profile: withoutSame(row.need.profile),
    aggregate: scaled(row.need.aggregate, count),
    minUnit: row.need.aggregate,
    group: '',
    arrivalUnixNanos: arrival,
  };
}

function scaled(resources: Resources, by: number): Resources {
  const product = new Map<string, number>();
  for (const [name, value] of resources) {
    product.set(name, saturated(value * by));
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

function isFoldable(
  row: Row,
  inventory: Inventory,
  incumbents: ReadonlyMap<number, number[]> | undefined,
): boolean {
  const own = incumbents?.get(incumbentKey(row.compiled.fingerprint, row.group));
  const { allocatable } = inventory.classes;
  const holds = (klass: number): boolean => covers(allocatable.read(klass), row.need.aggregate);
  // A gang that already runs across machines stays a gang, unless one of them holds it all:
  // a large machine appearing anywhere must not drain every healthy smaller one.
  if (own !== undefined && !own.some((slot) => holds(inventory.columns.klass[slot] as number))) {
    return false;
  }
  if ((row.result.foldKey?.witness ?? -1) >= 0) return true;
  const supply = inventory.supplyOf(row.cluster);
  return supply !== undefined && ownMachineHolds(row, supply, inventory, holds);
}

function ownMachineHolds(
  row: Row,
  supply: ClusterSupply,
  inventory: Inventory,
  holds: (klass: number) => boolean,
): boolean {
  const { cells, boundEnd } = supply;
  let refused = -1;
  for (let at = 0; at < boundEnd; at += CELL) {
    const klass = cells[at + CLASS] as number;
    if (klass === refused) continue;
    if (!row.compiled.match.has(klass) || !holds(klass)) refused = klass;
    else if (mayServeBound(inventory, row.compiled, cells[at + SLOT] as number)) return true;
  }
  return false;
}

/** Both numbers are dense and small, so one double holds the pair exactly. */
function incumbentKey(fingerprint: number, group: number): number {
  return fingerprint * 0x400_0000 + group;
}

/** Bound machines by the gang that they were configured for; undefined without any Same need. */
function incumbentsOf(
  inventory: Inventory,
  cluster: number,
  rows: readonly Row[],
): ReadonlyMap<number, number[]> | undefined {
  const gangs = new Set<number>();
  for (const { compiled } of rows)
    if (compiled.sameKey !== undefined) gangs.add(compiled.fingerprint);
  if (gangs.size === 0) return undefined;
  const { columns } = inventory;
  const incumbents = new Map<number, number[]>();
  const supply = inventory.supplyOf(cluster);
  if (supply === undefined) return incumbents;
  const { cells, boundEnd } = supply;
  for (let at = 0; at < boundEnd; at += CELL) {
    const slot = cells[at + SLOT] as number;
    const fingerprint = columns.needFp[slot] as number;
    if (!gangs.has(fingerprint)) continue;
    const key = incumbentKey(fingerprint, columns.group[slot] as number);
    const slots = incumbents.get(key);
    if (slots === undefined) incumbents.set(key, [slot]);
    else slots.push(slot);
  }
  return incumbents;
}
