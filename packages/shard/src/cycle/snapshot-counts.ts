// How many machines a cluster had Configured when the engine was asked (shard §8.1): rail 1 measures
// a decision against the fleet that it was made about. What was configured or lost since then moves
// the live count, and a cap taken from that would let more machines go than the decision saw.
//
// Cost: one map write per machine that became or left Configured between question and answer; no
// copy of the counts. Bound: one entry per cluster, emptied with every question.

import { State } from '@bigfleet/engine';
import type { NodeChange } from '../fleet/node-change.ts';

export class SnapshotCounts {
  readonly #live: (cluster: string) => number;
  readonly #since = new Map<string, number>();

  constructor(live: (cluster: string) => number) {
    this.#live = live;
  }

  /** The engine is asked now. */
  take(): void {
    this.#since.clear();
  }

  /** With every applied change. */
  changed({ machine, from, isRemoved, previousCluster }: NodeChange): void {
    if (from === State.Configured) this.#add(previousCluster, -1);
    if (!isRemoved && machine.state === State.Configured) this.#add(machine.cluster, 1);
  }

  countOf(cluster: string): number {
    return this.#live(cluster) - (this.#since.get(cluster) ?? 0);
  }

  #add(cluster: string, by: 1 | -1): void {
    this.#since.set(cluster, (this.#since.get(cluster) ?? 0) + by);
  }
}
