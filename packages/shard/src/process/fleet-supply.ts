// Idle and speculative machines by instance type, for hints: folded from the counts per class and
// state that the inventory keeps anyway, so no machine is visited. Frozen for one publication.
// Cost: one step per class.

import { type Inventory, State, STATE_COUNT } from '@bigfleet/engine';
import { type FleetSupply, NO_SUPPLY, sumSupply, type SupplyCount } from '../hints/supply.ts';

export function readSupply(inventory: Inventory): FleetSupply {
  const all = new Tallies();
  const stable = new Tallies();
  const { classes } = inventory;
  for (let klass = 0; klass < classes.length; klass++) {
    const shape = classes.shape(klass);
    if (shape === undefined) continue;
    const idleCount = classes.counts[klass * STATE_COUNT + State.Idle]!;
    const speculativeCount = classes.counts[klass * STATE_COUNT + State.Speculative]!;
    if (idleCount + speculativeCount === 0) continue;
    const cheapestIdlePrice = idleCount > 0 ? shape.pricePerHour : 0;
    const found = { idleCount, speculativeCount, cheapestIdlePrice };
    all.add(shape.instanceType, found);
    if (shape.interruptionProbability === 0) stable.add(shape.instanceType, found);
  }
  return {
    count: (instanceType, stableOnly) => (stableOnly ? stable : all).of(instanceType),
  };
}

class Tallies {
  #total = NO_SUPPLY;
  readonly #byType = new Map<string, SupplyCount>();

  of(instanceType: string | undefined): SupplyCount {
    return instanceType === undefined ? this.#total : (this.#byType.get(instanceType) ?? NO_SUPPLY);
  }

  add(instanceType: string, found: SupplyCount): void {
    this.#byType.set(instanceType, sumSupply(this.of(instanceType), found));
    this.#total = sumSupply(this.#total, found);
  }
}
