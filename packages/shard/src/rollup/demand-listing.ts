// The distinct profiles of every cluster's demand, as numbers, so that the main thread can hint
// and count without ever holding a need: a profile crosses the thread once, when the first cluster
// demands it, however often roll-ups repeat it. A number is given to another profile only after no
// cluster uses it, and verdicts arrive in the order in which they were made, so whoever reads them
// in order never meets a stale number.
//
// Bound: one entry per distinct demanded profile, one reference per row. Cost: one comparison per
// row of a roll-up that demands the profiles of the one before, one map lookup per row of another.

import { assert, PINNED_BUCKET } from '@bigfleet/base';
import { type Need, type Profile, withoutSame } from '@bigfleet/engine';
import type { AppliedDemand, DemandedShape } from '../engine-host/answer.ts';

interface Entry {
  readonly number: number;
  readonly profile: Profile;
  clusterCount: number;
}

interface Listed {
  readonly entries: readonly Entry[];
  /** Of the rows, in their order. */
  readonly profiles: readonly Profile[];
}

export class DemandListing {
  readonly #byFingerprint = new Map<string, Entry>();
  readonly #byCluster = new Map<string, Listed>();
  readonly #free: number[] = [];
  #nextNumber = 0;

  /** A cluster's whole demand; undefined when its rows have the profiles that they had before. */
  replace(cluster: string, needs: readonly Need[]): AppliedDemand | undefined {
    const before = this.#byCluster.get(cluster);
    if (before !== undefined && hasProfiles(needs, before.profiles)) return undefined;
    const defined: DemandedShape[] = [];
    const rowsByBucket = new Int32Array(PINNED_BUCKET + 1);
    const entries = new Set<Entry>();
    for (const { profile } of needs) {
      rowsByBucket[profile.interruptionBucket] = rowsByBucket[profile.interruptionBucket]! + 1;
      const entry = this.#entryOf(profile, defined);
      if (entries.has(entry)) continue;
      entries.add(entry);
      entry.clusterCount += 1;
    }
    // Only now: a profile that stays must keep its number.
    for (const entry of before?.entries ?? []) this.#release(entry);
    if (entries.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, listed(entries, needs));
    const profiles = Int32Array.from(entries, ({ number }) => number);
    return { profiles, defined, rowsByBucket };
  }

  /** The one of all that are equal, while some cluster demands it. */
  profileOf(fingerprint: string): Profile | undefined {
    return this.#byFingerprint.get(fingerprint)?.profile;
  }

  #entryOf(profile: Profile, defined: DemandedShape[]): Entry {
    const { fingerprint, requirements, interruptionBucket } = profile;
    const known = this.#byFingerprint.get(fingerprint);
    if (known !== undefined) return known;
    const number = this.#free.pop() ?? this.#nextNumber++;
    const entry: Entry = { number, profile, clusterCount: 0 };
    this.#byFingerprint.set(fingerprint, entry);
    const foldedFingerprint = withoutSame(profile).fingerprint;
    defined.push({ number, fingerprint, foldedFingerprint, requirements, interruptionBucket });
    return entry;
  }

  #release(entry: Entry): void {
    assert(entry.clusterCount > 0, 'a profile was released twice');
    entry.clusterCount -= 1;
    if (entry.clusterCount > 0) return;
    this.#byFingerprint.delete(entry.profile.fingerprint);
    this.#free.push(entry.number);
  }
}

function listed(entries: Iterable<Entry>, needs: readonly Need[]): Listed {
  return { entries: [...entries], profiles: needs.map(({ profile }) => profile) };
}

function hasProfiles(needs: readonly Need[], profiles: readonly Profile[]): boolean {
  if (needs.length !== profiles.length) return false;
  for (const [at, known] of profiles.entries()) {
    const { profile } = needs[at] as Need;
    if (profile !== known && profile.fingerprint !== known.fingerprint) return false;
  }
  return true;
}
