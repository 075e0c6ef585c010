// Phase 3: bound machines that no need claims are reclaimed, idle ones whose hold has passed
// are given back. No satisfaction arithmetic of its own: two independent walks over supply once
// drifted apart until Phase 1 provisioned exactly what Phase 3 reclaimed.
//
// Nothing is reclaimed from a cluster before its first roll-up (docs/adr/0036): a shard that has
// just started knows machines and no demand, and silence is not "no demand".

import { assert } from '@bigfleet/base';
import type { ActionBuffer } from '../actions/action-buffer.ts';
import { ActionKind, RECLAIM_GRACE_SECONDS } from '../model/action.ts';
import { CapacityType, holdMs, type ReleasePolicy } from '../model/capacity-type.ts';
import { State } from '../model/state.ts';
import { IDLE, type PoolView } from '../phase1/pool-view.ts';
import type { Inventory } from '../store/inventory.ts';

export class Reclaimer {
  readonly #inventory: Inventory;
  readonly #claimed: PoolView;
  readonly #actions: ActionBuffer;
  /** Clusters whose first roll-up has arrived. */
  readonly #reported = new Set<number>();

  constructor(inventory: Inventory, claimed: PoolView, actions: ActionBuffer) {
    this.#inventory = inventory;
    this.#claimed = claimed;
    this.#actions = actions;
  }

  /** Opens the gate of a cluster, for good. */
  markReported(cluster: number): void {
    this.#reported.add(cluster);
  }

  get reportedClusters(): ReadonlySet<number> {
    return this.#reported;
  }

  /** `excess` in release order, so that a capped cycle sheds the costliest. */
  reclaim(cluster: number, excess: readonly number[], preempted: ReadonlySet<number>): void {
    if (!this.#reported.has(cluster)) return;
    const actions = this.#actions;
    const { columns } = this.#inventory;
    for (const slot of excess) {
      // At most one action per machine: a preemption of the same cycle wins.
      if (preempted.has(slot)) continue;
      assert(columns.state[slot] === State.Configured, 'only a bound machine is reclaimed', {
        slot,
      });
      assert(columns.cluster[slot] === cluster, 'a machine of another cluster', { slot, cluster });
      const at = actions.push(ActionKind.Reclaim, slot, cluster, undefined);
      actions.graceSeconds[at] = RECLAIM_GRACE_SECONDS;
    }
  }

  /** Not gated by the first roll-up: an idle machine belongs to nobody. Ids ascending. */
  release(policy: ReleasePolicy, nowMs: number): void {
    const inventory = this.#inventory;
    const { columns } = inventory;
    const claimed = this.#claimed;
    const expired: number[] = [];
    const collect = (slot: number): void => {
      if (!claimed.isTaken(IDLE, columns.klass[slot]!, slot, columns)) expired.push(slot);
    };
    inventory.onDemandHolds.forEachUntil(nowMs - holdMs(CapacityType.OnDemand, policy), collect);
    inventory.spotHolds.forEachUntil(nowMs - holdMs(CapacityType.Spot, policy), collect);
    expired.sort((a, b) => columns.rank[a]! - columns.rank[b]!);
    for (const slot of expired) {
      assert(columns.state[slot] === State.Idle, 'only an idle machine is given back', { slot });
      this.#actions.push(ActionKind.Delete, slot, -1, undefined);
    }
  }
}
