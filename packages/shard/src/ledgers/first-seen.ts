// When a (cluster, fingerprint) was first demanded, until the first machine for it is Configured
// (shard §12.5). Observed once and then forgotten: a stamp that stayed would make a long soak
// measure itself. A profile that is demanded no more is dropped with the next accepted roll-up.
//
// Demand is compared without Same, on both sides: gangs are folded before they are decided, and a
// machine for folded ones carries the fingerprint of what they have in common.
// Bound: one stamp per demanded (cluster, profile).

import type { ListedProfile } from './demand-ledger.ts';

interface Stamps {
  readonly profiles: readonly ListedProfile[];
  /** Folded fingerprints by those that differ from theirs. */
  readonly folded: ReadonlyMap<string, string>;
  /** By folded fingerprint. */
  readonly sinceMs: Map<string, number>;
  /** Nothing of it was served yet. */
  isWhole: boolean;
}

export class FirstSeen {
  readonly #byCluster = new Map<string, Stamps>();

  /** An accepted roll-up: everything that the cluster demands now, the same array if the same. */
  demanded(cluster: string, profiles: readonly ListedProfile[], nowMs: number): void {
    const before = this.#byCluster.get(cluster);
    if (before?.profiles === profiles && before.isWhole) return;
    const folded = new Map<string, string>();
    const sinceMs = new Map<string, number>();
    for (const { fingerprint, foldedFingerprint } of profiles) {
      if (fingerprint !== foldedFingerprint) folded.set(fingerprint, foldedFingerprint);
      sinceMs.set(foldedFingerprint, before?.sinceMs.get(foldedFingerprint) ?? nowMs);
    }
    if (sinceMs.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, { profiles, folded, sinceMs, isWhole: true });
  }

  /** A machine for it is Configured: the stamp, once. */
  served(cluster: string, fingerprint: string): number | undefined {
    const stamps = this.#byCluster.get(cluster);
    if (stamps === undefined) return undefined;
    const folded = stamps.folded.get(fingerprint) ?? fingerprint;
    const sinceMs = stamps.sinceMs.get(folded);
    if (stamps.sinceMs.delete(folded)) stamps.isWhole = false;
    if (stamps.sinceMs.size === 0) this.#byCluster.delete(cluster);
    return sinceMs;
  }

  forget(cluster: string): void {
    this.#byCluster.delete(cluster);
  }
}
