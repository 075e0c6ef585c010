// The distinct profiles of every cluster's demand, as numbers, so that the main thread can hint
// and count without ever holding a need: a profile crosses the thread once, when the first cluster
// demands it, however often roll-ups repeat it. A number is given to another profile only after no
// cluster uses it, and verdicts arrive in the order in which they were made, so whoever reads them
// in order never meets a stale number.
//
// Bound: one entry per distinct demanded profile, one reference per row. Cost: one comparison per
// row of a roll-up that demands the profiles of the one before, one map lookup per row of another.

import { assert, type PenaltyBucket, PINNED_BUCKET } from '@bigfleet/base';
import {
  type Need,
  type Profile,
  type Requirement,
  type Resources,
  withoutSame,
} from '@bigfleet/engine';
import type { ShareParts } from './rows.ts';

/** A distinct profile that some cluster demands, under the number that verdicts name it by. */
export interface DemandedShape {
  readonly number: number;
  readonly fingerprint: string;
  /** Without Same: what a machine carries that serves it as one of several folded needs. */
  readonly foldedFingerprint: string;
  readonly requirements: readonly Requirement[];
  readonly interruptionBucket: PenaltyBucket;
}

/** A cluster's demand as the main thread keeps it: see DemandListing. */
export interface AppliedDemand {
  /** Numbers of the distinct profiles. */
  readonly profiles: Int32Array<ArrayBuffer>;
  /** Profiles whose number is new, or was another's before. */
  readonly defined: readonly DemandedShape[];
  /** Rows by interruption bucket; index 0 is unused. */
  readonly rowsByBucket: Int32Array<ArrayBuffer>;
}

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

const MAX_VECTORS = 8_192;

/**
 * Equal parts of needs as one object: thousands of clusters ask for the same profiles and the same
 * units, and each roll-up brings them as copies. Profiles are those that some cluster demands
 * already; vectors of resources are remembered until there are MAX_VECTORS, then anew. Profiles and
 * vectors are immutable values, so only the heap can tell the difference.
 */
export function sharedParts(profileOf: (fingerprint: string) => Profile | undefined): ShareParts {
  const vectors = new Map<string, Resources>();
  const shared = (resources: Resources): Resources => {
    const key = keyOf(resources);
    const known = vectors.get(key);
    if (known !== undefined) return known;
    if (vectors.size >= MAX_VECTORS) vectors.clear();
    vectors.set(key, resources);
    return resources;
  };
  return (need: Need): Need => ({
    ...need,
    profile: profileOf(need.profile.fingerprint) ?? need.profile,
    aggregate: shared(need.aggregate),
    minUnit: shared(need.minUnit),
  });
}

/** In the order of the entries, which a trace shows; names carry their length, because they come from the wire. */
function keyOf(resources: Resources): string {
  let key = '';
  for (const [name, quanta] of resources) key += `${name.length}:${name}${quanta};`;
  return key;
}
