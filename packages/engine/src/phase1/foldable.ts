// Whether a gang folds: it fits on one machine that it could have. Asked once per gang whenever
// its cluster is evaluated, so what is known about the cluster's machines is gathered first, in
// scratch that all clusters share.

import type { Row } from '../needs/row.ts';
import { grown } from '../store/classes.ts';
import { CELL, CLASS, type ClusterSupply, SLOT } from '../store/cluster-supply.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';
import { PairTable } from '../store/pair-table.ts';
import { mayServeBound } from './may-serve.ts';

/** What a cell can hold: a shard that evaluates all of its clusters gets there within a week. */
const MAX_TURN = 2 ** 31 - 1;

export class Foldability {
  readonly #inventory: Inventory;
  readonly #vectors: VectorTable;
  /** By fingerprint of a gang: the last cluster's turn that has one. */
  #turns: Int32Array = new Int32Array(64);
  #turn = 0;
  /** By fingerprint and group of a gang: place of its last incumbent in the two lists, plus 1. */
  readonly #last: PairTable = new PairTable();
  #classes: Int32Array = new Int32Array(64);
  /** The incumbent before it of the same gang, plus 1; 0 for none. */
  #previous: Int32Array = new Int32Array(64);
  #incumbentCount = 0;
  #supply: ClusterSupply | undefined;

  /** `vectors` holds demand. */
  constructor(inventory: Inventory, vectors: VectorTable) {
    this.#inventory = inventory;
    this.#vectors = vectors;
  }

  /** Bound machines of the cluster by the gang that they were configured for. */
  begin(cluster: number, rows: readonly Row[]): void {
    this.#nextTurn();
    this.#last.clear();
    this.#incumbentCount = 0;
    this.#supply = this.#inventory.supplyOf(cluster);
    for (let at = 0; at < rows.length; at++) {
      const { compiled } = rows[at]!;
      if (compiled.sameKey !== undefined) this.#markGang(compiled.fingerprint);
    }
    if (this.#supply === undefined) return;
    const { cells, boundEnd } = this.#supply;
    for (let at = 0; at < boundEnd; at += CELL) this.#addIncumbent(cells, at);
  }

  #nextTurn(): void {
    this.#turn += 1;
    if (this.#turn <= MAX_TURN) return;
    this.#turns.fill(0);
    this.#turn = 1;
  }

  #markGang(fingerprint: number): void {
    if (fingerprint >= this.#turns.length) {
      this.#turns = grown(this.#turns, new Int32Array(fingerprint * 2));
    }
    this.#turns[fingerprint] = this.#turn;
  }

  #addIncumbent(cells: Int32Array, at: number): void {
    const { needFp, group } = this.#inventory.columns;
    const slot = cells[at + SLOT]!;
    const fingerprint = needFp[slot]!;
    if (this.#turns[fingerprint] !== this.#turn) return;
    if (this.#incumbentCount === this.#classes.length) this.#growIncumbents();
    const gang = group[slot]!;
    this.#previous[this.#incumbentCount] = this.#last.get(fingerprint, gang);
    this.#classes[this.#incumbentCount++] = cells[at + CLASS]!;
    this.#last.set(fingerprint, gang, this.#incumbentCount);
  }

  #growIncumbents(): void {
    const capacity = this.#classes.length * 2;
    this.#classes = grown(this.#classes, new Int32Array(capacity));
    this.#previous = grown(this.#previous, new Int32Array(capacity));
  }

  isFoldable(row: Row): boolean {
    const last = this.#last.get(row.compiled.fingerprint, row.group);
    // A gang that already runs across machines stays a gang, unless one of them holds it all:
    // a large machine appearing anywhere must not drain every healthy smaller one.
    if (last > 0 && !this.#someIncumbentHolds(row, last)) return false;
    if ((row.result.foldKey?.witness ?? -1) >= 0) return true;
    return this.#supply !== undefined && this.#ownMachineHolds(row, this.#supply);
  }

  #someIncumbentHolds(row: Row, last: number): boolean {
    for (let at = last; at > 0; at = this.#previous[at - 1]!) {
      if (this.#holds(row, this.#classes[at - 1]!)) return true;
    }
    return false;
  }

  #ownMachineHolds(row: Row, { cells, boundEnd }: ClusterSupply): boolean {
    for (let at = 0; at < boundEnd; at += CELL) {
      const klass = cells[at + CLASS]!;
      if (!row.compiled.match.has(klass) || !this.#holds(row, klass)) continue;
      if (mayServeBound(this.#inventory, row.compiled, cells[at + SLOT]!)) return true;
    }
    return false;
  }

  #holds({ aggregate }: Row, klass: number): boolean {
    const { values, stride } = this.#vectors;
    const allocatable = this.#inventory.classes.allocatable.values;
    for (let d = 0; d < stride; d++) {
      const wanted = values[aggregate * stride + d]!;
      if (wanted > allocatable[klass * stride + d]!) return false;
    }
    return true;
  }
}
