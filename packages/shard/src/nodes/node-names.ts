// Node names per machine, as the operators report them (decision 9). A cordon by machine id
// silently hits no node when the names differ, so instructions and updates carry the name as soon
// as it is known. In memory only: after a restart the operator's complete report brings it back.
//
// An operator may name its own cluster's machines only; other entries are dropped and counted.
// Bound: one link per bound machine, 2,000 entries per frame, names of at most 253 bytes.

import type { Gauge, MetricRegistry, SampledMessage } from '@bigfleet/telemetry';
import type { NodeIdentity, NodeIdentityReport } from '@bigfleet/wire';
import type { SessionMetrics } from '../session/metrics.ts';
import type { BoundMachines } from './node-view.ts';

export const MAX_ENTRIES_PER_FRAME = 2_000;
const MAX_NODE_NAME_LENGTH = 253;

interface Link {
  readonly cluster: string;
  readonly nodeName: string;
}

export interface NodeNamesOptions {
  readonly machines: Pick<BoundMachines, 'isBoundTo'>;
  readonly framesDropped: SessionMetrics['framesDropped'];
  readonly registry: MetricRegistry;
  readonly ignored: SampledMessage<'cluster' | 'reason', 'detail'>;
}

export class NodeNames {
  readonly #options: NodeNamesOptions;
  readonly #byMachine = new Map<string, Link>();
  readonly #byCluster = new Map<string, Set<string>>();
  readonly #nodeLinks: Gauge;

  constructor(options: NodeNamesOptions) {
    this.#options = options;
    this.#nodeLinks = options.registry.gauge({
      name: 'bigfleet_shard_node_links',
      help: 'Machines with a known node name.',
    });
  }

  get size(): number {
    return this.#byMachine.size;
  }

  nameOf(machineId: string): string | undefined {
    return this.#byMachine.get(machineId)?.nodeName;
  }

  /** A report of the session's own cluster. One that is too long is refused whole. */
  report(cluster: string, report: NodeIdentityReport): void {
    const { nodes, complete } = report;
    if (nodes.length > MAX_ENTRIES_PER_FRAME) {
      this.#drop(cluster, 'oversized_node_identity', nodes.length);
      return;
    }
    if (complete) this.#clear(cluster);
    let foreignCount = 0;
    for (const entry of nodes) {
      if (!this.#apply(cluster, entry)) foreignCount++;
    }
    if (foreignCount > 0) this.#drop(cluster, 'foreign_node_identity', foreignCount);
    this.#publish();
  }

  /** The machine left its cluster: the node behind the name is gone with it. */
  unbound(machineId: string): void {
    this.#remove(machineId);
    this.#publish();
  }

  /** The cluster was forgotten. */
  forget(cluster: string): void {
    this.#clear(cluster);
    this.#publish();
  }

  /** False when the entry names no machine of this cluster. */
  #apply(cluster: string, { machineId, nodeName, removed }: NodeIdentity): boolean {
    if (removed) {
      const isOwn = this.#byMachine.get(machineId)?.cluster === cluster;
      if (isOwn) this.#remove(machineId);
      // A link that is already gone is no offence: the machine may have left before the report.
      return isOwn || !this.#byMachine.has(machineId);
    }
    if (nodeName === '' || nodeName.length > MAX_NODE_NAME_LENGTH) return false;
    if (!this.#options.machines.isBoundTo(machineId, cluster)) return false;
    this.#remove(machineId);
    this.#byMachine.set(machineId, { cluster, nodeName });
    this.#idsOf(cluster).add(machineId);
    return true;
  }

  #idsOf(cluster: string): Set<string> {
    let ids = this.#byCluster.get(cluster);
    if (ids === undefined) {
      ids = new Set();
      this.#byCluster.set(cluster, ids);
    }
    return ids;
  }

  #remove(machineId: string): void {
    const link = this.#byMachine.get(machineId);
    if (link === undefined) return;
    this.#byMachine.delete(machineId);
    const ids = this.#byCluster.get(link.cluster);
    ids?.delete(machineId);
    if (ids?.size === 0) this.#byCluster.delete(link.cluster);
  }

  #clear(cluster: string): void {
    for (const machineId of this.#byCluster.get(cluster) ?? []) this.#byMachine.delete(machineId);
    this.#byCluster.delete(cluster);
  }

  #drop(
    cluster: string,
    reason: 'foreign_node_identity' | 'oversized_node_identity',
    count: number,
  ): void {
    this.#options.framesDropped[reason].inc(count);
    this.#options.ignored.log({ cluster, reason, detail: count });
  }

  #publish(): void {
    this.#nodeLinks.set(this.#byMachine.size);
  }
}
