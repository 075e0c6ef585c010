// When a (cluster, fingerprint) was first demanded, until the first machine for it is Configured
// (shard §12.5). Observed once and then forgotten: a stamp that stayed would make a long soak
// measure itself. Whatever is demanded no more is dropped with the next accepted roll-up.
//
// Bound: one stamp per demanded (cluster, profile).

import type { DemandedProfile } from '../hints/supply.ts';

interface Stamps {
  readonly profiles: readonly DemandedProfile[];
  /** By fingerprint. */
  readonly sinceMs: Map<string, number>;
}

export class FirstSeen {
  readonly #byCluster = new Map<string, Stamps>();

  /** An accepted roll-up: everything that the cluster demands now, the same array if the same. */
  demanded(cluster: string, profiles: readonly DemandedProfile[], nowMs: number): void {
    const before = this.#byCluster.get(cluster);
    if (before?.profiles === profiles && before.sinceMs.size === profiles.length) return;
    const sinceMs = new Map<string, number>();
    for (const { fingerprint } of profiles) {
      sinceMs.set(fingerprint, before?.sinceMs.get(fingerprint) ?? nowMs);
    }
    if (sinceMs.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, { profiles, sinceMs });
  }

  /** A machine for it is Configured: the stamp, once. */
  served(cluster: string, fingerprint: string): number | undefined {
    const stamps = this.#byCluster.get(cluster)?.sinceMs;
    const sinceMs = stamps?.get(fingerprint);
    if (stamps?.delete(fingerprint) === true && stamps.size === 0) this.#byCluster.delete(cluster);
    return sinceMs;
  }

  forget(cluster: string): void {
    this.#byCluster.delete(cluster);
  }
}
