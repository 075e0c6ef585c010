// When a (cluster, fingerprint) was first demanded, until the first machine for it is Configured
// (shard §12.5). Observed once and then forgotten: a stamp that stayed would make a long soak
// measure itself. Whatever is demanded no more is dropped with the next accepted roll-up.
//
// Bound: one stamp per demanded (cluster, profile).

import type { DemandedProfile } from '../hints/supply.ts';

export class FirstSeen {
  readonly #byCluster = new Map<string, Map<string, number>>();

  /** An accepted roll-up: everything that the cluster demands now. */
  demanded(cluster: string, profiles: Iterable<DemandedProfile>, nowMs: number): void {
    const before = this.#byCluster.get(cluster);
    const stamps = new Map<string, number>();
    for (const { fingerprint } of profiles) {
      stamps.set(fingerprint, before?.get(fingerprint) ?? nowMs);
    }
    if (stamps.size === 0) this.#byCluster.delete(cluster);
    else this.#byCluster.set(cluster, stamps);
  }

  /** A machine for it is Configured: the stamp, once. */
  served(cluster: string, fingerprint: string): number | undefined {
    const stamps = this.#byCluster.get(cluster);
    const sinceMs = stamps?.get(fingerprint);
    if (stamps?.delete(fingerprint) === true && stamps.size === 0) this.#byCluster.delete(cluster);
    return sinceMs;
  }

  forget(cluster: string): void {
    this.#byCluster.delete(cluster);
  }
}
