// Whether a gang of one shape fits on a single acquirable machine, decided once per
// (profile, aggregate) and remembered with a witness: the answer changes only when the witness
// class runs out or another class gains its first machine. A flip dirties exactly the clusters
// that demand the shape.

import { interruptionTerm } from '@bigfleet/base';
import type { CompiledProfile } from '../needs/compiled-profile.ts';
import type { Row } from '../needs/row.ts';
import type { Resources } from '../model/resources.ts';
import { covers } from '../model/resources.ts';
import type { Inventory } from '../store/inventory.ts';

export class FoldKey {
  readonly name: string;
  readonly compiled: CompiledProfile;
  readonly aggregate: Resources;
  /** Cluster to the number of its rows that ask. */
  readonly users: Map<number, number> = new Map();
  /** A class whose acquirable machines cover the gang; −1 when there is none. */
  witness = -1;

  constructor(name: string, compiled: CompiledProfile, aggregate: Resources) {
    this.name = name;
    this.compiled = compiled;
    this.aggregate = aggregate;
  }
}

export class FoldKeys {
  readonly #inventory: Inventory;
  readonly #keys = new Map<string, FoldKey>();

  constructor(inventory: Inventory) {
    this.#inventory = inventory;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** One more row of the cluster asks about this gang shape; once per row. */
  retain(row: Row): void {
    const name = keyOf(row);
    let key = this.#keys.get(name);
    if (key === undefined) {
      key = new FoldKey(name, row.compiled, row.need.aggregate);
      key.witness = this.#search(key);
      this.#keys.set(name, key);
    }
    key.users.set(row.cluster, (key.users.get(row.cluster) ?? 0) + 1);
    row.result.foldKey = key;
  }

  release(row: Row): void {
    const key = row.result.foldKey;
    if (key === undefined) return;
    row.result.foldKey = undefined;
    const left = (key.users.get(row.cluster) ?? 0) - 1;
    if (left > 0) key.users.set(row.cluster, left);
    else key.users.delete(row.cluster);
    if (key.users.size === 0) this.#keys.delete(key.name);
  }

  /** Takes in the classes whose pools filled or emptied; `dirty` gets the clusters of every flip. */
  update(flipped: ReadonlySet<number>, dirty: Set<number>): void {
    if (flipped.size === 0) return;
    for (const key of this.#keys.values()) {
      const before = key.witness >= 0;
      // A flipped witness may be another class by now: numbers are reused.
      if (before && flipped.has(key.witness)) key.witness = this.#search(key);
      else if (!before) key.witness = this.#searchAmong(key, flipped);
      if (before !== key.witness >= 0) for (const cluster of key.users.keys()) dirty.add(cluster);
    }
  }

  #search(key: FoldKey): number {
    return this.#searchAmong(key, key.compiled.match.members);
  }

  #searchAmong(key: FoldKey, classes: Iterable<number>): number {
    for (const klass of classes) {
      if (!key.compiled.match.has(klass) || !this.#hasMachines(klass)) continue;
      if (this.#isFinite(key, klass) && this.#covers(key, klass)) return klass;
    }
    return -1;
  }

  #hasMachines(klass: number): boolean {
    const { idlePools, speculativePools } = this.#inventory;
    return (idlePools[klass]?.size ?? 0) > 0 || (speculativePools[klass]?.size ?? 0) > 0;
  }

  #isFinite({ compiled }: FoldKey, klass: number): boolean {
    const probability = this.#inventory.classes.probability[klass] as number;
    return interruptionTerm(probability, compiled.penaltyDollars) < Number.POSITIVE_INFINITY;
  }

  #covers(key: FoldKey, klass: number): boolean {
    return covers(this.#inventory.classes.allocatable.read(klass), key.aggregate);
  }
}

function keyOf(row: Row): string {
  return `${row.compiled.profile.fingerprint}#${row.aggregateKey}`;
}
