// Whether a gang of one shape fits on a single acquirable machine, decided once per
// (profile, aggregate) and remembered with a witness: the answer changes only when the witness
// class runs out or another class gains its first machine. A flip dirties exactly the clusters
// that demand the shape.

import { assert, interruptionTerm } from '@bigfleet/base';
import type { CompiledProfile } from './compiled-profile.ts';
import type { Row } from './row.ts';
import type { VectorTable } from '../store/dimensions.ts';
import type { Inventory } from '../store/inventory.ts';

/** Shapes that went and whose memory the next ones take: a change of a gang is one of each. */
const MAX_SPARE = 256;

export class FoldKey {
  compiled: CompiledProfile;
  aggregateKey: string;
  /** Vector of the gang's size; the key's own. */
  readonly aggregate: number[] = [];
  /** Cluster to the number of its rows that ask. */
  readonly users: Map<number, number> = new Map();
  /** A class whose acquirable machines cover the gang; −1 when there is none. */
  witness = -1;

  constructor(compiled: CompiledProfile, aggregateKey: string) {
    this.compiled = compiled;
    this.aggregateKey = aggregateKey;
  }
}

export class FoldKeys {
  readonly #inventory: Inventory;
  readonly #vectors: VectorTable;
  /** By profile, then by size: two keys that exist, so that asking builds no text. */
  readonly #keys = new Map<CompiledProfile, Map<string, FoldKey>>();
  readonly #spare: FoldKey[] = [];
  /** Scratch: the classes that flipped. */
  readonly #flipped: number[] = [];

  /** `vectors` holds demand. */
  constructor(inventory: Inventory, vectors: VectorTable) {
    this.#inventory = inventory;
    this.#vectors = vectors;
  }

  /** One more row of the cluster asks about this gang shape; once per row. */
  retain(row: Row): void {
    const { compiled, aggregateKey, cluster } = row;
    let keys = this.#keys.get(compiled);
    if (keys === undefined) {
      keys = new Map();
      this.#keys.set(compiled, keys);
    }
    let key = keys.get(aggregateKey);
    if (key === undefined) {
      key = this.#create(row);
      keys.set(aggregateKey, key);
    }
    key.users.set(cluster, (key.users.get(cluster) ?? 0) + 1);
    row.result.foldKey = key;
  }

  #create({ compiled, aggregateKey, aggregate }: Row): FoldKey {
    const key = this.#spare.pop() ?? new FoldKey(compiled, aggregateKey);
    key.compiled = compiled;
    key.aggregateKey = aggregateKey;
    const { values, stride } = this.#vectors;
    for (let d = 0; d < stride; d++) key.aggregate[d] = values[aggregate * stride + d]!;
    key.witness = this.#searchAmong(key, compiled.match.members);
    return key;
  }

  release(row: Row): void {
    const key = row.result.foldKey;
    if (key === undefined) return;
    row.result.foldKey = undefined;
    const left = (key.users.get(row.cluster) ?? 0) - 1;
    assert(left >= 0, 'a gang shape is released more often than retained');
    if (left > 0) key.users.set(row.cluster, left);
    else key.users.delete(row.cluster);
    if (key.users.size === 0) this.#drop(key);
  }

  #drop(key: FoldKey): void {
    const keys = this.#keys.get(key.compiled);
    keys?.delete(key.aggregateKey);
    if (keys?.size === 0) this.#keys.delete(key.compiled);
    if (this.#spare.length < MAX_SPARE) this.#spare.push(key);
  }

  /** Takes in the classes whose pools filled or emptied; `dirty` gets the clusters of every flip. */
  update(flipped: ReadonlySet<number>, dirty: Set<number>): void {
    if (flipped.size === 0) return;
    this.#flipped.length = 0;
    for (const klass of flipped) this.#flipped.push(klass);
    for (const keys of this.#keys.values()) {
      for (const key of keys.values()) {
        const before = key.witness >= 0;
        // A flipped witness may be another class by now: numbers are reused.
        if (before && flipped.has(key.witness)) {
          key.witness = this.#searchAmong(key, key.compiled.match.members);
        } else if (!before) key.witness = this.#searchAmong(key, this.#flipped);
        if (before !== key.witness >= 0) for (const cluster of key.users.keys()) dirty.add(cluster);
      }
    }
  }

  #searchAmong(key: FoldKey, classes: readonly number[]): number {
    for (let at = 0; at < classes.length; at++) {
      const klass = classes[at]!;
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
    const probability = this.#inventory.classes.probability[klass]!;
    return interruptionTerm(probability, compiled.penaltyDollars) < Number.POSITIVE_INFINITY;
  }

  /** Dimensions that appeared later are open in no gang that was there before. */
  #covers({ aggregate }: FoldKey, klass: number): boolean {
    const { values, stride } = this.#inventory.classes.allocatable;
    for (let d = 0; d < aggregate.length; d++) {
      if (aggregate[d]! > values[klass * stride + d]!) return false;
    }
    return true;
  }
}
