// The classes that a need may use: their shape satisfies its requirements and one machine
// covers its atomic unit. Cost orders and domains are derived from it once and shared by every
// need of the same requirements and unit.

import type { PenaltyBucket } from '@bigfleet/base';
import type { Requirement } from '../model/requirement.ts';
import { type Resources, covers } from '../model/resources.ts';
import type { Classes } from '../store/classes.ts';
import { CostOrder } from './cost-order.ts';
import { DomainSets } from './domain-sets.ts';
import { ClassSet, matchingClasses } from './match-set.ts';

export class EligibleSet {
  readonly #classes: Classes;
  readonly set: ClassSet;
  readonly #orders: (CostOrder | undefined)[] = [];
  readonly #domains = new Map<string, DomainSets>();
  /** Scratch of the credit lists: by which rebuild it was last listed, and where. */
  listedBy = 0;
  listPlace = 0;

  constructor(classes: Classes, set: ClassSet) {
    this.#classes = classes;
    this.set = set;
  }

  order(bucket: PenaltyBucket, cycle: number): CostOrder {
    let order = this.#orders[bucket];
    if (order === undefined) {
      order = new CostOrder(this.#classes, this.set, bucket);
      this.#orders[bucket] = order;
    }
    return order.refresh(cycle);
  }

  /** The set split by the values of a topology key; classes without the key are in none. */
  domains(key: string): DomainSets {
    let domains = this.#domains.get(key);
    if (domains === undefined) {
      domains = new DomainSets(this.#classes, this.set, key);
      this.#domains.set(key, domains);
    }
    return domains;
  }
}

/** Shared by needs, counted, and dropped with the last need that uses them. */
export class EligibleSets {
  readonly #classes: Classes;
  readonly #matches = new Map<string, Counted<ClassSet>>();
  readonly #sets = new Map<string, Counted<EligibleSet>>();

  constructor(classes: Classes) {
    this.#classes = classes;
  }

  get size(): number {
    return this.#sets.size;
  }

  retainMatch(requirements: readonly Requirement[], key: string): ClassSet {
    return retain(this.#matches, key, () => matchingClasses(this.#classes, requirements));
  }

  releaseMatch(key: string): void {
    release(this.#matches, key);
  }

  retain(match: ClassSet, minUnit: Resources, key: string): EligibleSet {
    return retain(this.#sets, key, () => {
      const { allocatable } = this.#classes;
      const fits = (klass: number): boolean =>
        match.has(klass) && covers(allocatable.read(klass), minUnit);
      return new EligibleSet(this.#classes, new ClassSet(this.#classes, fits));
    });
  }

  release(key: string): void {
    release(this.#sets, key);
  }
}

interface Counted<T> {
  readonly value: T;
  uses: number;
}

function retain<T>(table: Map<string, Counted<T>>, key: string, make: () => T): T {
  let entry = table.get(key);
  if (entry === undefined) {
    entry = { value: make(), uses: 0 };
    table.set(key, entry);
  }
  entry.uses += 1;
  return entry.value;
}

function release<T>(table: Map<string, Counted<T>>, key: string): void {
  const entry = table.get(key);
  if (entry === undefined) return;
  entry.uses -= 1;
  if (entry.uses === 0) table.delete(key);
}
