// What the shard's side of the coordinator says about itself (observability §3).

import type { Counter, Gauge, Logger, MetricRegistry } from '@bigfleet/telemetry';
import { compareText } from '@bigfleet/base';
import type { ClusterBinding } from '@bigfleet/wire';

const OUTCOMES = ['success', 'error', 'stale_term', 'not_acknowledged'] as const;
export type ReportOutcome = (typeof OUTCOMES)[number];

export interface CoordClientMetrics {
  readonly reported: (outcome: ReportOutcome) => void;
  readonly conflicts: Gauge;
  readonly droppedAcks: Counter;
}

export function createCoordClientMetrics(registry: MetricRegistry): CoordClientMetrics {
  const reports = registry.counter({
    name: 'bigfleet_shard_coordinator_report_total',
    help: 'Reports to the coordinator, by how they ended.',
    labels: { outcome: OUTCOMES },
  });
  const conflicts = registry.gauge({
    name: 'bigfleet_shard_cluster_binding_conflict',
    help: 'Clusters served here that the coordinator has bound to another shard.',
  });
  const droppedAcks = registry.counter({
    name: 'bigfleet_shard_coordinator_acks_dropped_total',
    help: 'Acknowledgements that found no room; their instructions are delivered again.',
  });
  conflicts.set(0);
  return { reported: (outcome) => reports.labels({ outcome }).inc(), conflicts, droppedAcks };
}

/**
 * Clusters that this shard serves and the coordinator has bound to another (coordinator §7.3). No
 * session is dropped for it; it is logged once per change, and shown as a gauge.
 */
export class ClusterConflicts {
  readonly #logger: Logger;
  readonly #gauge: Gauge;
  #known: ReadonlySet<string> = new Set();

  constructor(logger: Logger, gauge: Gauge) {
    this.#logger = logger;
    this.#gauge = gauge;
  }

  /** The whole set, as of this report. */
  replace(conflicts: readonly ClusterBinding[]): void {
    this.#gauge.set(conflicts.length);
    const ordered = [...conflicts].sort((a, b) => compareText(a.clusterId, b.clusterId));
    for (const { clusterId, shardId } of ordered) {
      if (this.#known.has(clusterId)) continue;
      this.#logger.error('cluster bound to another shard', {
        cluster: clusterId,
        bound_to: shardId,
      });
    }
    this.#known = new Set(conflicts.map(({ clusterId }) => clusterId));
  }
}
