// How many Speculative machines each provider may still turn into real ones (engine §5.7): its slice
// minus the elastic machines that the shard holds in any other state. Absent is unlimited. A slice
// below what is held stops new ones and reclaims nothing.

import { CapacityType, type Inventory, State, STATE_COUNT } from '@bigfleet/engine';
import { machinesOfClass } from '../provider/reconcile/known-machines.ts';
import type { QuotaSlice } from './assignment.ts';

export function quotaRemaining(
  slices: readonly QuotaSlice[],
  inventory: Inventory,
): ReadonlyMap<string, number> {
  const remaining = new Map<string, number>();
  if (slices.length === 0) return remaining;
  for (const { provider, slice } of slices) {
    remaining.set(provider, (remaining.get(provider) ?? 0) + slice);
  }
  const held = elasticHeld(inventory);
  for (const [provider, slice] of remaining) {
    remaining.set(provider, Math.max(0, slice - (held.get(provider) ?? 0)));
  }
  return remaining;
}

/** By provider. */
function elasticHeld({ classes }: Inventory): ReadonlyMap<string, number> {
  const held = new Map<string, number>();
  for (let klass = 0; klass < classes.length; klass++) {
    const shape = classes.shape(klass);
    if (shape === undefined || !isElastic(shape.capacityType)) continue;
    const speculative = classes.counts[klass * STATE_COUNT + State.Speculative]!;
    const count = machinesOfClass(classes, klass) - speculative;
    held.set(shape.provider, (held.get(shape.provider) ?? 0) + count);
  }
  return held;
}

export function isElastic(capacityType: number): boolean {
  return capacityType === CapacityType.OnDemand || capacityType === CapacityType.Spot;
}
