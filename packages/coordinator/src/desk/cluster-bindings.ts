// The fleet-wide copy of cluster bindings, filled from reports (coordinator §7.3). First contact
// wins and stays: a cluster that another shard owns is not moved and no session is dropped; the
// shard is told, and it is counted and logged once for as long as it lasts.

import { compareText, parseClusterId } from '@bigfleet/base';
import type { ClusterBinding, ShardReport } from '@bigfleet/wire';
import type { ClusterRow } from '../state/rows.ts';
import type { ReportDeskOptions } from './report-desk.ts';
import type { CommandBudget } from './report-handler.ts';

/** What one report may name; sessions per shard are far below. */
const MAX_CLUSTERS = 20_000;
const NANOS_PER_MS = 1_000_000n;

type ClusterBindingsOptions = Pick<ReportDeskOptions, 'ledger' | 'log' | 'observer'>;

export class ClusterBindings {
  readonly #options: ClusterBindingsOptions;
  /** Clusters that a shard serves and another owns, by shard. */
  readonly #conflicts = new Map<string, ReadonlySet<string>>();

  constructor(options: ClusterBindingsOptions) {
    this.#options = options;
  }

  /** Binds what is new, within the budget, and answers with the conflicts. */
  async onReport(report: ShardReport, budget: CommandBudget): Promise<readonly ClusterBinding[]> {
    const { state: view } = this.#options.ledger;
    const { shardId } = report;
    const named = this.#named(report);
    for (const cluster of named) {
      if (budget.isSpent) break;
      if (view.cluster(cluster) !== undefined) continue;
      await budget.apply({ kind: 'BindCluster', cluster, shard: shardId, force: false });
    }
    const bound = named.flatMap((cluster) => view.cluster(cluster) ?? []);
    const elsewhere = bound.filter((row) => row.shardId !== shardId);
    this.#note(shardId, elsewhere);
    return elsewhere.map((row) => bindingOf(row, shardId));
  }

  /** The shard, if any, that serves this cluster although another owns it; for listings. */
  conflictingShard(clusterId: string): string | undefined {
    for (const [shardId, clusters] of this.#conflicts) if (clusters.has(clusterId)) return shardId;
    return undefined;
  }

  forget(shardId: string): void {
    this.#conflicts.delete(shardId);
  }

  #named(report: ShardReport): readonly string[] {
    const ids = [...new Set(report.clusterIds)].slice(0, MAX_CLUSTERS);
    const good = ids.filter((id) => parseClusterId(id).ok);
    if (good.length < ids.length) {
      const fields = { shard: report.shardId, malformed_count: ids.length - good.length };
      this.#options.log.warn('report names clusters whose ids are malformed', fields);
    }
    return good.toSorted(compareText);
  }

  #note(shardId: string, elsewhere: readonly ClusterRow[]): void {
    const { log, observer } = this.#options;
    const known = this.#conflicts.get(shardId) ?? new Set<string>();
    for (const { clusterId, shardId: owner } of elsewhere) {
      if (known.has(clusterId)) continue;
      observer.onClusterBindingConflict();
      log.error('cluster bound to another shard', { cluster: clusterId, owner, shard: shardId });
    }
    if (elsewhere.length === 0) this.#conflicts.delete(shardId);
    else this.#conflicts.set(shardId, new Set(elsewhere.map(({ clusterId }) => clusterId)));
  }
}

function bindingOf(row: ClusterRow, conflictingShardId: string): ClusterBinding {
  return {
    $typeName: 'bigfleet.ext.v1alpha1.ClusterBinding',
    clusterId: row.clusterId,
    shardId: row.shardId,
    boundAtUnixNs: BigInt(row.boundAtMs) * NANOS_PER_MS,
    conflictingShardId,
  };
}
