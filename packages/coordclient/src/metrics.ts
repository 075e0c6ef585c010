// What the shard's side of the coordinator says about itself (observability §3).

import type { MetricRegistry, Logger } from '@bigfleet/telemetry';
import { compareText } from '@bigfleet/base';
import type { ClusterBinding } from '@bigfleet/wire';

const OUTCOMES = ['success', 'error', 'stale_term', 'not_acknowledged'] as const;
export type ReportOutcome = (typeof OUTCOMES)[number];

export interface CoordClientMetrics {
  reported(outcome: ReportOutcome): void;
  setConflictCount(count: number): void;
}

export function createCoordClientMetrics(
  registry: MetricRegistry,
  droppedAckCount: () => number,
): CoordClientMetrics {
  const reports = registry.counter({
    name: 'bigfleet_shard_coordinator_report_total',
    help: 'Reports to the coordinator, by how they ended.',
    labels: { outcome: OUTCOMES },
  });
  const conflicts = registry.gauge({
    name: 'bigfleet_shard_cluster_binding_conflict',
    help: 'Clusters served here that the coordinator has bound to another shard.',
  });
  const dropped = registry.counter({
    name: 'bigfleet_shard_coordinator_acks_dropped_total',
    help: 'Acknowledgements that found no room; their instructions are delivered again.',
  });
  conflicts.set(0);
  let toldCount = 0;
  registry.onCollect(() => {
    const count = droppedAckCount();
    dropped.inc(count - toldCount);
    toldCount = count;
  });
  return {
    reported: (outcome) => reports.labels({ outcome }).inc(),
    setConflictCount: (count) => conflicts.set(count),
  };
}

/**
 * Clusters that this shard serves and the coordinator has bound to another (coordinator §7.3). No
 * session is dropped for it; it is logged once per change, and shown as a gauge.
 */
export class ClusterConflicts {
  readonly #logger: Logger;
  readonly #metrics: CoordClientMetrics;
  #known: ReadonlySet<string> = new Set();

  constructor(logger: Logger, metrics: CoordClientMetrics) {
    this.#logger = logger;
    this.#metrics = metrics;
  }

  /** The whole set, as of this report. */
  replace(conflicts: readonly ClusterBinding[]): void {
    this.#metrics.setConflictCount(conflicts.length);
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
