// What hints are computed from: counts per (state, instance type) that the cycle already has, and
// the profiles that a cluster demands. No machine is visited for a hint.

import type { Requirement } from '@bigfleet/engine';

export interface SupplyCount {
  readonly idleCount: number;
  readonly speculativeCount: number;
  /** Cheapest price per hour among the idle ones; 0 when there is none. */
  readonly cheapestIdlePrice: number;
}

export const NO_SUPPLY: SupplyCount = { idleCount: 0, speculativeCount: 0, cheapestIdlePrice: 0 };

/** A price of 0 without idle machines means that there is none, not that it is free. */
export function sumSupply(a: SupplyCount, b: SupplyCount): SupplyCount {
  const idleCount = a.idleCount + b.idleCount;
  const speculativeCount = a.speculativeCount + b.speculativeCount;
  let { cheapestIdlePrice } = a.idleCount === 0 ? b : a;
  if (a.idleCount > 0 && b.idleCount > 0) {
    cheapestIdlePrice = Math.min(a.cheapestIdlePrice, b.cheapestIdlePrice);
  }
  return { idleCount, speculativeCount, cheapestIdlePrice };
}

/** Frozen for one publication. */
export interface FleetSupply {
  /**
   * Of one instance type, or of all when it is undefined. `stableOnly` counts machines whose
   * interruption probability is 0, because no other may serve a Pinned profile (engine §1.6).
   */
  count(instanceType: string | undefined, stableOnly: boolean): SupplyCount;
}

export interface DemandedProfile {
  readonly fingerprint: string;
  readonly requirements: readonly Requirement[];
  /** Its interruption bucket is Pinned. */
  readonly isPinned: boolean;
}

export interface ClusterDemand {
  /**
   * Distinct profiles that the cluster demands now: hints follow workload shapes, not inventory.
   * The same array as long as they are the same.
   */
  profilesOf(cluster: string): readonly DemandedProfile[];
}

const MAX_COUNTS = 10_000;

type Counts = Map<string | undefined, SupplyCount>;

/**
 * Notices when nothing that hints are made of has changed: it writes down every count that a hint
 * was worked out from, and asks a later supply for the same ones. As long as all of them are the
 * same, so is every hint, and the pairs of cluster and profile need not be looked at one by one,
 * which thousands of sessions at rest would pay for in every cycle.
 *
 * Bound: MAX_COUNTS written down; beyond them a new version begins, which costs one full look.
 */
export class SupplyWatch implements FleetSupply {
  readonly #all: Counts = new Map();
  readonly #stable: Counts = new Map();
  #supply: FleetSupply | undefined;
  #version = 0;

  /** Two publications of one version give every profile the same hint. */
  get version(): number {
    return this.#version;
  }

  /** Of the next publication. */
  follow(supply: FleetSupply): void {
    this.#supply = supply;
    const isSame = isStill(this.#all, supply, false) && isStill(this.#stable, supply, true);
    if (isSame && this.#all.size + this.#stable.size <= MAX_COUNTS) return;
    this.#version += 1;
    this.#all.clear();
    this.#stable.clear();
  }

  count(instanceType: string | undefined, stableOnly: boolean): SupplyCount {
    const found = this.#supply?.count(instanceType, stableOnly) ?? NO_SUPPLY;
    (stableOnly ? this.#stable : this.#all).set(instanceType, found);
    return found;
  }
}

function isStill(counts: Counts, supply: FleetSupply, stableOnly: boolean): boolean {
  for (const [instanceType, before] of counts) {
    const { idleCount, speculativeCount, cheapestIdlePrice } = supply.count(
      instanceType,
      stableOnly,
    );
    if (idleCount !== before.idleCount || speculativeCount !== before.speculativeCount)
      return false;
    if (cheapestIdlePrice !== before.cheapestIdlePrice) return false;
  }
  return true;
}
