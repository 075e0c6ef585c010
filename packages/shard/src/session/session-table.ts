// The connected operators: at most one session per cluster, the newest. A replaced session is really
// terminated, not flagged: a half-open old connection would stay resident and its waiters would
// sit until their deadline. Its late clean-up may not evict its successor (shard §4.1).

import { RpcError } from '@bigfleet/wire';
import type { SessionMetrics } from './metrics.ts';
import type { Session } from './session.ts';

const MAX_SESSIONS = 5_000;

export class SessionTable {
  readonly #byCluster = new Map<string, Session>();
  readonly #metrics: SessionMetrics;
  readonly #maxSessions: number;

  constructor(metrics: SessionMetrics, maxSessions: number = MAX_SESSIONS) {
    this.#metrics = metrics;
    this.#maxSessions = maxSessions;
  }

  get size(): number {
    return this.#byCluster.size;
  }

  sessionOf(cluster: string): Session | undefined {
    return this.#byCluster.get(cluster);
  }

  /** In the order of their connection. */
  all(): Iterable<Session> {
    return this.#byCluster.values();
  }

  /** A further new cluster finds no room; replacing is always possible. */
  hasRoomFor(cluster: string): boolean {
    return this.#byCluster.size < this.#maxSessions || this.#byCluster.has(cluster);
  }

  install(session: Session): void {
    const previous = this.#byCluster.get(session.cluster);
    this.#byCluster.set(session.cluster, session);
    (previous === undefined ? this.#metrics.installed : this.#metrics.replaced).inc();
    this.#metrics.activeSessions.set(this.#byCluster.size);
    previous?.close(new RpcError('ABORTED', 'session replaced'));
  }

  /** True when the entry was still this session's; a successor's stays. */
  remove(session: Session): boolean {
    if (this.#byCluster.get(session.cluster) !== session) return false;
    this.#byCluster.delete(session.cluster);
    this.#metrics.removed.inc();
    this.#metrics.activeSessions.set(this.#byCluster.size);
    return true;
  }
}
