// The distinct profiles of every cluster's demand, as numbers, so that the main thread can hint
// and count without ever holding a need: a profile crosses the thread once, when the first cluster
// demands it, however often roll-ups repeat it. A number is given to another profile only after no
// cluster uses it, and verdicts arrive in the order in which they were made, so whoever reads them
// in order never meets a stale number.
//
// Bound: one entry per distinct demanded profile. Cost: one map lookup per row of a roll-up.

import { assert, PINNED_BUCKET } from '@bigfleet/base';
import type { Need, Profile } from '@bigfleet/engine';
import type { AppliedDemand, DemandedShape } from './answer.ts';

interface Entry {
  readonly number: number;
  readonly fingerprint: string;
  clusterCount: number;
}

export class DemandListing {
  readonly #byFingerprint = new Map<string, Entry>();
  readonly #byCluster = new Map<string, readonly Entry[]>();
  readonly #free: number[] = [];
  #nextNumber = 0;

  /** A cluster's whole demand. */
  replace(cluster: string, needs: readonly Need[]): AppliedDemand {
    const defined: DemandedShape[] = [];
    const rowsByBucket = new Int32Array(PINNED_BUCKET + 1);
    const entries = new Set<Entry>();
    for (const { profile } of needs) {
      rowsByBucket[profile.interruptionBucket] =
        (rowsByBucket[profile.interruptionBucket] as number) + 1;
      const entry = this.#entryOf(profile, defined);
      if (entries.has(entry)) continue;
      entries.add(entry);
      entry.clusterCount += 1;
    }
    // Only now: a profile that stays must keep its number.
    for (const entry of this.#byCluster.get(cluster) ?? []) this.#release(entry);
    if (entries.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, [...entries]);
    const profiles = Int32Array.from(entries, ({ number }) => number);
    return { profiles, defined, rowsByBucket };
  }

  #entryOf(profile: Profile, defined: DemandedShape[]): Entry {
    const { fingerprint, requirements, interruptionBucket } = profile;
    const known = this.#byFingerprint.get(fingerprint);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#nextNumber++;
    const entry: Entry = { number, fingerprint, clusterCount: 0 };
    this.#byFingerprint.set(fingerprint, entry);
    defined.push({ number, fingerprint, requirements, interruptionBucket });
    return entry;
  }

  #release(entry: Entry): void {
    assert(entry.clusterCount > 0, 'a profile was released twice');
    entry.clusterCount -= 1;
    if (entry.clusterCount > 0) return;
    this.#byFingerprint.delete(entry.fingerprint);
    this.#free.push(entry.number);
  }
}
