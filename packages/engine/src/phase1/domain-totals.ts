// What each domain could supply to a kind of need: counts and sums over the acquirable machines
// of its classes. Kept from cycle to cycle: a new pass gives back what gangs consumed virtually
// in the last one and takes in what the pools gained and lost. A gang then weighs domains, not
// classes, and a steady cycle costs what changed.

import type { ConfinedSet, DomainSets } from '../match/domain-sets.ts';
import type { Inventory } from '../store/inventory.ts';
import { DomainRanking } from './domain-ranking.ts';

/** Rankings per kind of need: gangs have a handful of sizes. */
const MAX_RANKINGS = 64;
/** Changes that are kept for the rankings beyond four per domain. */
const MAX_CHANGES_SLACK = 4_096;

export class DomainTotals {
  readonly #inventory: Inventory;
  readonly #domains: DomainSets;
  readonly #isPinned: boolean;
  #pass = -1;
  #version = -1;
  #logEpoch = -1;
  #logged = 0;
  /** Classes that this pass took from the sums. */
  readonly #taken: number[] = [];
  /** Domains with a sum beyond 2⁵³, which cannot come down exactly. */
  readonly #beyond = new Set<number>();
  readonly #rankings = new Map<string, DomainRanking>();
  counts: Int32Array = new Int32Array(0);
  /** `sums[domain * stride + dimension]`; beyond 2⁵³ they are only known to be beyond. */
  sums: Float64Array = new Float64Array(0);
  stride = 0;
  /** Domains whose numbers changed, in order, for the rankings. */
  readonly changes: number[] = [];
  /** Rises when the changes were cut or the domains are others. */
  epoch = 0;

  constructor(inventory: Inventory, domains: DomainSets, isPinned: boolean) {
    this.#inventory = inventory;
    this.#domains = domains;
    this.#isPinned = isPinned;
  }

  /** Up to date with the pools, less what `consumed` names: the classes taken in this pass. */
  follow(pass: number, consumed: readonly number[]): void {
    if (this.#isOutdated()) this.#recountAll();
    else if (this.#pass !== pass) this.#startPass();
    this.#pass = pass;
    while (this.#taken.length < consumed.length) {
      const klass = consumed[this.#taken.length]!;
      this.#taken.push(klass);
      this.#add(klass, -1);
    }
    if (this.#beyond.size > 0) this.#recountBeyond();
    if (this.changes.length > this.counts.length * 4 + MAX_CHANGES_SLACK) this.#cutChanges();
  }

  /** The domains in the order in which a gang of this size prefers them. */
  ranking(aggregateKey: string): DomainRanking {
    let ranking = this.#rankings.get(aggregateKey);
    if (ranking === undefined) {
      if (this.#rankings.size >= MAX_RANKINGS) this.#rankings.clear();
      ranking = new DomainRanking(this);
      this.#rankings.set(aggregateKey, ranking);
    }
    return ranking;
  }

  #isOutdated(): boolean {
    const { poolLog, classes } = this.#inventory;
    return (
      this.#version !== this.#domains.version ||
      this.#logEpoch !== poolLog.epoch ||
      this.stride !== classes.allocatable.stride
    );
  }

  #startPass(): void {
    const { changes } = this.#inventory.poolLog;
    for (const klass of this.#taken) this.#add(klass, 1);
    this.#taken.length = 0;
    for (; this.#logged < changes.length; this.#logged++) {
      const change = changes[this.#logged]!;
      this.#add(change >>> 1, (change & 1) === 1 ? 1 : -1);
    }
  }

  #recountAll(): void {
    const { poolLog, classes } = this.#inventory;
    const count = this.#domains.domains.length;
    this.#version = this.#domains.version;
    this.#logEpoch = poolLog.epoch;
    this.#logged = poolLog.changes.length;
    this.#taken.length = 0;
    this.#beyond.clear();
    this.stride = classes.allocatable.stride;
    this.counts = new Int32Array(count);
    this.sums = new Float64Array(count * this.stride);
    for (let domain = 0; domain < count; domain++) this.#recount(domain, noneTaken);
    this.#cutChanges();
  }

  #recountBeyond(): void {
    const taken = new Map<number, number>();
    for (const klass of this.#taken) taken.set(klass, (taken.get(klass) ?? 0) + 1);
    const domains = [...this.#beyond];
    this.#beyond.clear();
    for (const domain of domains) this.#recount(domain, taken);
  }

  #recount(domain: number, taken: ReadonlyMap<number, number>): void {
    this.counts[domain] = 0;
    this.sums.fill(0, domain * this.stride, (domain + 1) * this.stride);
    const { idlePools, speculativePools } = this.#inventory;
    for (const klass of (this.#domains.domains[domain] as ConfinedSet).members) {
      const inPools = (idlePools[klass]?.size ?? 0) + (speculativePools[klass]?.size ?? 0);
      if (inPools === 0) continue;
      this.#add(klass, inPools - (taken.get(klass) ?? 0));
    }
  }

  #add(klass: number, by: number): void {
    const domain = this.#domains.domainOf(klass);
    if (domain < 0) return;
    // No machine that may be interrupted is of use to a pinned gang.
    if (this.#isPinned && this.#inventory.classes.probability[klass] !== 0) return;
    const { values, stride } = this.#inventory.classes.allocatable;
    this.counts[domain] = this.counts[domain]! + by;
    for (let d = 0; d < stride; d++) {
      const at = domain * stride + d;
      const sum = this.sums[at]! + values[klass * stride + d]! * by;
      this.sums[at] = sum;
      if (sum > Number.MAX_SAFE_INTEGER) this.#beyond.add(domain);
    }
    this.changes.push(domain);
  }

  #cutChanges(): void {
    this.changes.length = 0;
    this.epoch += 1;
  }
}

const noneTaken: ReadonlyMap<number, number> = new Map();
