// What one reader of the feed wants to see. A reader that asked for some clusters is told that a
// machine is gone when it leaves them; which of its machines it was told about is kept here, bounded
// by the machines of its clusters.

import { BigFleetError } from '@bigfleet/base';
import type { WatchRequest } from '@bigfleet/wire';
import type { MachineChange, NeedChange } from './cycle-changes.ts';

const MAX_INTERVAL_MS = 60_000;

export class Selection {
  readonly hasMachines: boolean;
  readonly hasNeeds: boolean;
  readonly hasRecords: boolean;
  readonly minIntervalMs: number;
  readonly #clusters: ReadonlySet<string>;
  readonly #shown = new Set<string>();

  constructor({ machines, needs, records, clusterIds, minIntervalMs }: WatchRequest) {
    if (minIntervalMs < 0 || minIntervalMs > MAX_INTERVAL_MS) {
      const text = `min_interval_ms: ${minIntervalMs} is outside 0 to ${MAX_INTERVAL_MS}`;
      throw new BigFleetError('read_request_invalid', text);
    }
    this.hasMachines = machines;
    this.hasNeeds = needs;
    this.hasRecords = records;
    this.minIntervalMs = minIntervalMs;
    this.#clusters = new Set(clusterIds);
  }

  /** What a cursor of this reader covers. */
  get rows(): number {
    return Number(this.hasMachines) + 2 * Number(this.hasNeeds);
  }

  /** Equal keys get equal frames; undefined when the frames are this reader's own. */
  get shareKey(): number | undefined {
    return this.#clusters.size > 0 ? undefined : this.rows;
  }

  /** A snapshot follows: the reader holds nothing. */
  restart(): void {
    this.#shown.clear();
  }

  isOfCluster(cluster: string): boolean {
    return this.#clusters.size === 0 || this.#clusters.has(cluster);
  }

  /** To be asked once per row of a snapshot, in order. */
  showsMachine(id: string, cluster: string): boolean {
    if (!this.isOfCluster(cluster)) return false;
    if (this.#clusters.size > 0) this.#shown.add(id);
    return true;
  }

  /** To be asked once per change, in order. */
  machineChange(change: MachineChange): MachineChange | undefined {
    if (!this.hasMachines) return undefined;
    if (this.#clusters.size === 0) return change;
    const { id, cluster, bytes } = change;
    if (bytes !== undefined && this.showsMachine(id, cluster)) return change;
    return this.#shown.delete(id) ? { id, cluster: '', bytes: undefined } : undefined;
  }

  needChange(change: NeedChange): NeedChange | undefined {
    return this.hasNeeds && this.isOfCluster(change.ref.cluster) ? change : undefined;
  }
}
