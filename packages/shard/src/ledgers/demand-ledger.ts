// Demand as the main thread knows it: for every cluster the distinct profiles, by number, and the row
// counts. Filled from the verdicts on roll-ups, in their order; the needs themselves live with
// the engine. Hints, the demand gauge and the list of held-off pairs read it.
//
// Bound: one entry per cluster with demand, one shape per distinct profile.

import { assert, PENALTY_BUCKETS, PINNED_BUCKET, type PenaltyBucket } from '@bigfleet/base';
import type { AppliedDemand, DemandedShape } from '../rollup/demand-listing.ts';
import type { ClusterDemand, DemandedProfile } from '../hints/supply.ts';

/** As latency is measured by: see first-seen.ts. */
export interface ListedProfile extends DemandedProfile {
  readonly foldedFingerprint: string;
}

interface Entry {
  readonly demand: AppliedDemand;
  readonly profiles: readonly ListedProfile[];
  readonly rowCount: number;
}

const none: readonly ListedProfile[] = [];

export class DemandLedger implements ClusterDemand {
  readonly #shapes: (ListedProfile | undefined)[] = [];
  readonly #byCluster = new Map<string, Entry>();
  readonly #rowsByBucket = new Float64Array(PINNED_BUCKET + 1);

  /** Clusters that reported and were not forgotten, with demand or without. */
  clusters(): Iterable<string> {
    return this.#byCluster.keys();
  }

  has(cluster: string): boolean {
    return this.#byCluster.has(cluster);
  }

  rowCountOf(cluster: string): number {
    return this.#byCluster.get(cluster)?.rowCount ?? 0;
  }

  rowsIn(bucket: PenaltyBucket): number {
    return this.#rowsByBucket[bucket]!;
  }

  /** A roll-up is in the engine's table. In the order of the verdicts. Undefined: as before. */
  applied(cluster: string, demand: AppliedDemand | undefined): void {
    if (demand === undefined) {
      assert(this.has(cluster), 'there is no demand as before', { cluster });
      return;
    }
    this.#count(cluster, -1);
    for (const shape of demand.defined) this.#shapes[shape.number] = profileOf(shape);
    const before = this.#byCluster.get(cluster);
    const profiles =
      before !== undefined && isSameDemand(before.demand, demand)
        ? before.profiles
        : this.#profiles(demand);
    const rowCount = demand.rowsByBucket.reduce((sum, rows) => sum + rows, 0);
    this.#byCluster.set(cluster, { demand, rowCount, profiles });
    this.#count(cluster, 1);
  }

  forget(cluster: string): void {
    this.#count(cluster, -1);
    this.#byCluster.delete(cluster);
  }

  profilesOf(cluster: string): readonly ListedProfile[] {
    return this.#byCluster.get(cluster)?.profiles ?? none;
  }

  #profiles({ profiles }: AppliedDemand): readonly ListedProfile[] {
    const found: ListedProfile[] = [];
    for (const number of profiles) {
      const profile = this.#shapes[number];
      if (profile !== undefined) found.push(profile);
    }
    return found;
  }

  #count(cluster: string, sign: 1 | -1): void {
    const rows = this.#byCluster.get(cluster)?.demand.rowsByBucket;
    if (rows === undefined) return;
    for (const bucket of PENALTY_BUCKETS) {
      this.#rowsByBucket[bucket] = this.#rowsByBucket[bucket]! + sign * rows[bucket]!;
    }
  }
}

/** Of the profiles alone: most roll-ups change counts only. */
function isSameDemand(before: AppliedDemand, { profiles, defined }: AppliedDemand): boolean {
  if (defined.length > 0 || profiles.length !== before.profiles.length) return false;
  return profiles.every((number, at) => number === before.profiles[at]);
}

function profileOf(shape: DemandedShape): ListedProfile {
  const { fingerprint, foldedFingerprint, requirements, interruptionBucket } = shape;
  const isPinned = interruptionBucket === PINNED_BUCKET;
  return { fingerprint, foldedFingerprint, requirements, isPinned };
}
