// Rail 2: a roll-up that would drop almost all of a cluster's demand is held until it was
// repeated. The usual cause of such a roll-up is a truncated list, not a vanished workload, so
// the row count is the proxy on purpose. Nothing survives a restart: the first roll-up after
// one is always accepted, and rail 1 bounds what it can do.

/** Clusters smaller than this may vanish at once. */
const GUARD_MIN_ROWS = 10;
/** Suspicious is keeping less than this share of the rows. */
const GUARD_KEEP_FRACTION = 0.1;
/** The third in a row is believed. */
const GUARD_CONFIRMATIONS = 3;

export type GuardVerdict =
  | { readonly kind: 'accepted'; readonly confirmedAfter: number }
  | { readonly kind: 'held'; readonly consecutive: number };

export class RollupGuard {
  readonly #baselines = new Map<string, number>();
  readonly #held = new Map<string, number>();

  /** Consecutive held roll-ups of the cluster. */
  heldCount(cluster: string): number {
    return this.#held.get(cluster) ?? 0;
  }

  check(cluster: string, rowCount: number): GuardVerdict {
    const baseline = this.#baselines.get(cluster) ?? 0;
    const isSuspicious = baseline >= GUARD_MIN_ROWS && rowCount < GUARD_KEEP_FRACTION * baseline;
    const consecutive = isSuspicious ? this.heldCount(cluster) + 1 : 0;
    if (isSuspicious && consecutive < GUARD_CONFIRMATIONS) {
      this.#held.set(cluster, consecutive);
      return { kind: 'held', consecutive };
    }
    this.#held.delete(cluster);
    this.#baselines.set(cluster, rowCount);
    return { kind: 'accepted', confirmedAfter: consecutive };
  }

  /** An administrator forgot the cluster: its next roll-up starts afresh. */
  forget(cluster: string): void {
    this.#baselines.delete(cluster);
    this.#held.delete(cluster);
  }
}
