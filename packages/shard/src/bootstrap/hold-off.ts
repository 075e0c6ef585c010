// An operator that answers `error` cannot serve this profile: asking again every cycle would only
// hammer it. Each (cluster, fingerprint) is left alone for 30 s, then twice as long after every
// further refusal, up to 10 min; a success clears it. Several machines are often asked for at once,
// so refusals that arrive while a hold runs belong to it and do not lengthen it.
//
// Bound: MAX_ENTRIES pairs, the oldest dropped first (it costs one early question). A refusal long
// after the last hold, by more than that hold's length, starts at 30 s again.

import type { Clock } from '@bigfleet/base';

const FIRST_HOLD_MS = 30_000;
const LONGEST_HOLD_MS = 600_000;
const MAX_ENTRIES = 50_000;

interface Hold {
  readonly fingerprint: string;
  readonly lengthMs: number;
  readonly untilMs: number;
}

export class HoldOffs {
  readonly #clock: Clock;
  readonly #byCluster = new Map<string, Map<string, Hold>>();
  #size = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Pairs that are remembered, held or not. */
  get size(): number {
    return this.#size;
  }

  /** How long the pair must still be left alone; 0 when it may be asked. */
  remainingMs(cluster: string, fingerprint: string): number {
    const hold = this.#byCluster.get(cluster)?.get(fingerprint);
    return hold === undefined ? 0 : Math.max(0, hold.untilMs - this.#clock.monotonicMs());
  }

  /** Fingerprints of the cluster that are held now: shortfall `bootstrap_refused`. */
  heldOf(cluster: string): readonly string[] {
    const nowMs = this.#clock.monotonicMs();
    const holds = [...(this.#byCluster.get(cluster)?.values() ?? [])];
    return holds.filter(({ untilMs }) => untilMs > nowMs).map(({ fingerprint }) => fingerprint);
  }

  refused(cluster: string, fingerprint: string): void {
    const nowMs = this.#clock.monotonicMs();
    const previous = this.#byCluster.get(cluster)?.get(fingerprint);
    if (previous !== undefined && previous.untilMs > nowMs) return;
    const isRecent = previous !== undefined && nowMs < previous.untilMs + previous.lengthMs;
    const lengthMs = isRecent ? Math.min(previous.lengthMs * 2, LONGEST_HOLD_MS) : FIRST_HOLD_MS;
    this.#set(cluster, { fingerprint, lengthMs, untilMs: nowMs + lengthMs });
  }

  succeeded(cluster: string, fingerprint: string): void {
    this.#delete(cluster, fingerprint);
  }

  forget(cluster: string): void {
    this.#size -= this.#byCluster.get(cluster)?.size ?? 0;
    this.#byCluster.delete(cluster);
  }

  #set(cluster: string, hold: Hold): void {
    this.#delete(cluster, hold.fingerprint);
    if (this.#size >= MAX_ENTRIES) this.#deleteOldest();
    let holds = this.#byCluster.get(cluster);
    if (holds === undefined) {
      holds = new Map();
      this.#byCluster.set(cluster, holds);
    }
    holds.set(hold.fingerprint, hold);
    this.#size++;
  }

  #delete(cluster: string, fingerprint: string): void {
    const holds = this.#byCluster.get(cluster);
    if (holds?.delete(fingerprint) !== true) return;
    this.#size--;
    if (holds.size === 0) this.#byCluster.delete(cluster);
  }

  #deleteOldest(): void {
    for (const [cluster, holds] of this.#byCluster) {
      for (const fingerprint of holds.keys()) return this.#delete(cluster, fingerprint);
    }
  }
}
