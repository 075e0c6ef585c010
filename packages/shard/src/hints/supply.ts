// What hints are computed from: counts per (state, instance type) that the cycle already has, and
// the profiles that a cluster demands. No machine is visited for a hint.

import type { Requirement } from '@bigfleet/engine';

export interface SupplyCount {
  readonly idleCount: number;
  readonly speculativeCount: number;
  /** Cheapest price per hour among the idle ones; 0 when there is none. */
  readonly cheapestIdlePrice: number;
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
