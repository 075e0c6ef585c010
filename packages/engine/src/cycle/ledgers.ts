// What survives from cycle to cycle besides the inventory: how long Same needs tried in vain,
// and how long demand has been short. Both are pruned to what the cycle saw.

import { assert, compareText, type UnmetCode } from '@bigfleet/base';
import { needKey } from '../model/need.ts';
import { add, max, type Resources } from '../model/resources.ts';
import type { Row } from '../needs/row.ts';
import { PARK_AFTER_CYCLES, REPROBE_EVERY_CYCLES, type Shortfall } from '../model/cycle.ts';

/** Stops futile attempts, except for a probe now and then; reorders nothing. */
export class ParkingLedger {
  #ages = new Map<string, ParkingEntry>();
  /** As the last cycle began. */
  #agesBefore: ReadonlyMap<string, number> = new Map();

  get ages(): ReadonlyMap<string, number> {
    return new Map([...this.#ages].map(([key, entry]) => [key, entry.age]));
  }

  restore(ages: ReadonlyMap<string, number>, clusterOf: (key: string) => number): void {
    this.#ages = new Map();
    for (const [key, age] of ages) {
      assert(age >= 0, 'a gang cannot have tried fewer than no cycles', { key, age });
      this.#ages.set(key, { age, cluster: clusterOf(key), wasParked: false });
    }
  }

  ageOf(row: Row): number {
    if (row.compiled.sameKey === undefined || this.#ages.size === 0) return 0;
    return this.#ages.get(needKey(row.need))?.age ?? 0;
  }

  /** The age with which the last cycle began. */
  ageBefore(row: Row): number {
    if (row.compiled.sameKey === undefined || this.#agesBefore.size === 0) return 0;
    return this.#agesBefore.get(needKey(row.need)) ?? 0;
  }

  /** Clusters in which a need is parked or unparked now and was not before. */
  collectFlips(dirty: Set<number>): void {
    for (const entry of this.#ages.values()) {
      const isNow = isParkedAt(entry.age);
      if (isNow !== entry.wasParked) dirty.add(entry.cluster);
      entry.wasParked = isNow;
    }
  }

  /** Takes in the open needs of a cycle; everything else is forgotten. */
  advance(open: readonly Row[], dirty: Set<number>): void {
    this.#agesBefore = this.#ages.size === 0 ? noAges : this.ages;
    const next = new Map<string, ParkingEntry>();
    for (const row of open) {
      if (!isFruitless(row)) continue;
      const key = needKey(row.need);
      const known = this.#ages.get(key);
      const entry = known ?? { age: 0, cluster: row.cluster, wasParked: false };
      entry.age += 1;
      next.set(key, entry);
    }
    // A parked need that made progress or vanished is evaluated without its flag next cycle.
    for (const [key, entry] of this.#ages) {
      if (entry.wasParked && !next.has(key)) dirty.add(entry.cluster);
    }
    this.#ages = next;
  }
}

const noAges: ReadonlyMap<string, number> = new Map();

interface ParkingEntry {
  age: number;
  readonly cluster: number;
  wasParked: boolean;
}

export function isParkedAt(age: number): boolean {
  return age >= PARK_AFTER_CYCLES && age % REPROBE_EVERY_CYCLES !== 0;
}

/**
 * A drain that frees a machine for the need is progress too (docs/adr/0064): a gang parked while
 * its victims drained would leave them to their old tenants and preempt again at its next probe.
 */
function isFruitless({ compiled, result }: Row): boolean {
  return (
    compiled.sameKey !== undefined &&
    !result.isSatisfied &&
    result.bootstrapCount + result.provisionCount === 0 &&
    result.awaitingDrainCount + result.victimCount === 0 &&
    !result.isSatisfiable
  );
}

/** One entry per fingerprint: summed over its needs, aged once per cycle. */
export class ShortfallLedger {
  #entries = new Map<string, Shortfall>();

  get entries(): ReadonlyMap<string, Shortfall> {
    return this.#entries;
  }

  restore(entries: ReadonlyMap<string, Shortfall>): void {
    this.#entries = new Map(entries);
  }

  /** `unresolved` in the order of Phase 2; the first need of a fingerprint gives the reason. */
  advance(unresolved: readonly Unresolved[]): void {
    const next = new Map<string, Shortfall>();
    for (const { row, deficit, reasonCode } of unresolved) {
      assert(deficit.size > 0, 'a shortfall of nothing', { cluster: row.need.cluster });
      const { profile, minUnit, cluster } = row.need;
      const known = next.get(profile.fingerprint);
      next.set(
        profile.fingerprint,
        known === undefined
          ? {
              profile,
              deficit,
              minUnit,
              ageCycles: (this.#entries.get(profile.fingerprint)?.ageCycles ?? 0) + 1,
              reasonCode,
              clusters: [cluster],
            }
          : {
              ...known,
              deficit: add(known.deficit, deficit),
              minUnit: max(known.minUnit, minUnit),
              clusters: withCluster(known.clusters, cluster),
            },
      );
    }
    this.#entries = next;
  }
}

export interface Unresolved {
  readonly row: Row;
  readonly deficit: Resources;
  readonly reasonCode: UnmetCode;
}

function withCluster(clusters: readonly string[], cluster: string): readonly string[] {
  if (clusters.includes(cluster)) return clusters;
  return [...clusters, cluster].sort(compareText);
}
