// Clusters that this shard serves and the coordinator has bound to another (coordinator §7.3). No
// session is dropped for it; it is said loudly, once per change, and shown as a gauge.

import { compareText } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { ClusterBinding } from '@bigfleet/wire';
import type { CoordClientMetrics } from './metrics.ts';

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
