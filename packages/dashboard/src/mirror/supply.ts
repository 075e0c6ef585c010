// Counts and dollars of a shard's machines by state, capacity type and cluster: kept up to date row by row
// while live, counted from the columns for a past moment. Both must be equal.

import { State } from '@bigfleet/engine';
import type { Classes } from './classes.ts';
import type { Columns } from './columns.ts';
import { isBilled } from './money.ts';

/** By state code. */
const STATE_SLOTS = 9;
const CAPACITY_SLOTS = 5;

export interface ClusterSupply {
  readonly counts: Float64Array;
  machines: number;
  /** Of billed machines. */
  units: number;
}

export class Supply {
  readonly counts: Float64Array = new Float64Array(STATE_SLOTS);
  readonly units: Float64Array = new Float64Array(STATE_SLOTS);
  /** By capacity type, of machines that exist. */
  readonly capacityCounts: Float64Array = new Float64Array(CAPACITY_SLOTS);
  readonly capacityUnits: Float64Array = new Float64Array(CAPACITY_SLOTS);
  /** By the number of the cluster's name; only those with machines. */
  readonly clusters: Map<number, ClusterSupply> = new Map();
  machines = 0;
  totalUnits = 0;

  /** `sign` 1 adds the row, −1 takes it out. Free slots count for nothing. */
  count(columns: Columns, slot: number, classes: Classes, sign: 1 | -1): void {
    const state = columns.state[slot] ?? 0;
    if (state === 0) return;
    const klass = columns.klass[slot] ?? 0;
    const capacityType = classes.capacityType[klass] ?? 0;
    const units = isBilled(state) ? sign * (classes.units[klass] ?? 0) : 0;
    this.machines += sign;
    this.totalUnits += units;
    add(this.counts, state, sign);
    add(this.units, state, units);
    if (state !== State.Speculative) {
      add(this.capacityCounts, capacityType, sign);
      add(this.capacityUnits, capacityType, units);
    }
    const cluster = columns.cluster[slot] ?? 0;
    if (cluster !== 0) this.#countCluster(cluster, state, sign, units);
  }

  static of(columns: Columns, classes: Classes): Supply {
    const supply = new Supply();
    for (let slot = 0; slot < columns.length; slot++) supply.count(columns, slot, classes, 1);
    return supply;
  }

  #countCluster(cluster: number, state: number, sign: 1 | -1, units: number): void {
    let supply = this.clusters.get(cluster);
    if (supply === undefined) {
      supply = { counts: new Float64Array(STATE_SLOTS), machines: 0, units: 0 };
      this.clusters.set(cluster, supply);
    }
    add(supply.counts, state, sign);
    supply.machines += sign;
    supply.units += units;
    if (supply.machines === 0) this.clusters.delete(cluster);
  }
}

function add(column: Float64Array, at: number, amount: number): void {
  column[at] = (column[at] ?? 0) + amount;
}
