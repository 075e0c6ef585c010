// Which clusters lost their operator a moment ago (shard §4.5, reconnect grace). An operator that is
// restarted, or whose stream broke, is back within seconds: its drains wait for it instead of going
// past the disruption budgets. Only operators that report completion count: for others the provider is
// called at once anyway. Not persisted: a shard that restarts has lost nobody.
//
// Bound: MAX_LOST clusters, the oldest loss forgotten first, and none for longer than the next loss
// after its time.

import type { OperatorSession } from '../session/session.ts';

/** Twice the longest backoff of an operator. */
const RECONNECT_GRACE_MS = 60_000;
const MAX_LOST = 10_000;

export class LostSessions {
  /** Oldest loss first. */
  readonly #backByMs = new Map<string, number>();

  /** The session ended and has no successor. */
  add(session: Pick<OperatorSession, 'cluster' | 'has'>, nowMs: number): void {
    const { cluster } = session;
    this.#backByMs.delete(cluster);
    if (session.has('reclaim-completion')) this.#backByMs.set(cluster, nowMs + RECONNECT_GRACE_MS);
    for (const [oldest, backByMs] of this.#backByMs) {
      if (backByMs > nowMs && this.#backByMs.size <= MAX_LOST) break;
      this.#backByMs.delete(oldest);
    }
  }

  /** Monotonic; undefined when the operator is not expected back. */
  backByMs(cluster: string, nowMs: number): number | undefined {
    const backByMs = this.#backByMs.get(cluster);
    return backByMs !== undefined && backByMs > nowMs ? backByMs : undefined;
  }

  forget(cluster: string): void {
    this.#backByMs.delete(cluster);
  }
}
