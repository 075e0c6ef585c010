// Phase 3: bound machines that no need claims are reclaimed, idle ones whose hold has passed
// are given back. No satisfaction arithmetic of its own: two independent walks over supply once
// drifted apart until Phase 1 provisioned exactly what Phase 3 reclaimed.

import type { ActionBuffer } from '../actions/action-buffer.ts';
import { ActionKind, RECLAIM_GRACE_SECONDS } from '../model/action.ts';
import { CapacityType, holdMs, type ReleasePolicy } from '../model/capacity-type.ts';
import { IDLE, type PoolView } from '../phase1/pool-view.ts';
import type { Inventory } from '../store/inventory.ts';

export function emitReclaims(
  actions: ActionBuffer,
  cluster: number,
  excess: readonly number[],
  preempted: ReadonlySet<number>,
): void {
  for (const slot of excess) {
    // At most one action per machine: a preemption of the same cycle wins.
    if (preempted.has(slot)) continue;
    const at = actions.push(ActionKind.Reclaim, slot, cluster, undefined);
    actions.graceSeconds[at] = RECLAIM_GRACE_SECONDS;
  }
}

/** Not gated by the first roll-up: an idle machine belongs to nobody. Ids ascending. */
export function emitReleases(
  inventory: Inventory,
  claimed: PoolView,
  actions: ActionBuffer,
  policy: ReleasePolicy,
  nowMs: number,
): void {
  const { columns } = inventory;
  const expired: number[] = [];
  const collect = (slot: number): void => {
    if (!claimed.isTaken(IDLE, columns.klass[slot] as number, slot, columns)) expired.push(slot);
  };
  inventory.onDemandHolds.forEachUntil(nowMs - holdMs(CapacityType.OnDemand, policy), collect);
  inventory.spotHolds.forEachUntil(nowMs - holdMs(CapacityType.Spot, policy), collect);
  expired.sort((a, b) => (columns.rank[a] as number) - (columns.rank[b] as number));
  for (const slot of expired) actions.push(ActionKind.Delete, slot, -1, undefined);
}
