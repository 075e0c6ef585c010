// Whether a gang folds: it fits on one machine that it could have. Asked once per gang whenever
// its cluster is evaluated, so what is known about the cluster's machines is gathered first, in
// scratch that all clusters share.

import type { Row } from '../needs/row.ts';
import { CELL, CLASS, type ClusterSupply, SLOT } from '../store/cluster-supply.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { mayServeBound } from './may-serve.ts';

export class Foldability {
  readonly #inventory: Inventory;
  readonly #vectors: VectorTable;
  readonly #gangs = new Set<number>();
  /** By gang: place of its last incumbent in the two lists, plus 1. */
  readonly #last = new Map<number, number>();
  readonly #classes: number[] = [];
  /** The incumbent before it of the same gang, plus 1; 0 for none. */
  readonly #previous: number[] = [];
  #supply: ClusterSupply | undefined;

  /** `vectors` holds demand. */
  constructor(inventory: Inventory, vectors: VectorTable) {
    this.#inventory = inventory;
    this.#vectors = vectors;
  }

  /** Bound machines of the cluster by the gang that they were configured for. */
  begin(cluster: number, rows: readonly Row[]): void {
    this.#gangs.clear();
    this.#last.clear();
    this.#classes.length = 0;
    this.#previous.length = 0;
    this.#supply = this.#inventory.supplyOf(cluster);
    for (let at = 0; at < rows.length; at++) {
      const { compiled } = rows[at] as Row;
      if (compiled.sameKey !== undefined) this.#gangs.add(compiled.fingerprint);
    }
    if (this.#supply === undefined) return;
    const { cells, boundEnd } = this.#supply;
    for (let at = 0; at < boundEnd; at += CELL) this.#addIncumbent(cells, at);
  }

  #addIncumbent(cells: Int32Array, at: number): void {
    const { needFp, group } = this.#inventory.columns;
    const slot = cells[at + SLOT] as number;
    const fingerprint = needFp[slot] as number;
    if (!this.#gangs.has(fingerprint)) return;
    const key = gangKey(fingerprint, group[slot] as number);
    this.#previous.push(this.#last.get(key) ?? 0);
    this.#classes.push(cells[at + CLASS] as number);
    this.#last.set(key, this.#classes.length);
  }

  isFoldable(row: Row): boolean {
    const last = this.#last.get(gangKey(row.compiled.fingerprint, row.group)) ?? 0;
    // A gang that already runs across machines stays a gang, unless one of them holds it all:
    // a large machine appearing anywhere must not drain every healthy smaller one.
    if (last > 0 && !this.#someIncumbentHolds(row, last)) return false;
    if ((row.result.foldKey?.witness ?? -1) >= 0) return true;
    return this.#supply !== undefined && this.#ownMachineHolds(row, this.#supply);
  }

  #someIncumbentHolds(row: Row, last: number): boolean {
    for (let at = last; at > 0; at = this.#previous[at - 1] as number) {
      if (this.#holds(row, this.#classes[at - 1] as number)) return true;
    }
    return false;
  }

  #ownMachineHolds(row: Row, { cells, boundEnd }: ClusterSupply): boolean {
    for (let at = 0; at < boundEnd; at += CELL) {
      const klass = cells[at + CLASS] as number;
      if (!row.compiled.match.has(klass) || !this.#holds(row, klass)) continue;
      if (mayServeBound(this.#inventory, row.compiled, cells[at + SLOT] as number)) return true;
    }
    return false;
  }

  #holds({ aggregate }: Row, klass: number): boolean {
    const { values, stride } = this.#vectors;
    const allocatable = this.#inventory.classes.allocatable.values;
    for (let d = 0; d < stride; d++) {
      const wanted = values[aggregate * stride + d] as number;
      if (wanted > (allocatable[klass * stride + d] as number)) return false;
    }
    return true;
  }
}

/** Both numbers are dense and small, so one double holds the pair exactly. */
function gangKey(fingerprint: number, group: number): number {
  return fingerprint * 0x400_0000 + group;
}
