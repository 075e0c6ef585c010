// Idle and speculative machines by instance type, for hints: folded from the counts per class and
// state that the inventory keeps anyway, so no machine is visited. Frozen for one publication.
// Cost: one step per class.

import { type Inventory, State, STATE_COUNT } from '@bigfleet/engine';
import type { FleetSupply, SupplyCount } from '../hints/supply.ts';

interface Tally {
  idleCount: number;
  speculativeCount: number;
  cheapestIdlePrice: number;
}

const NONE: SupplyCount = { idleCount: 0, speculativeCount: 0, cheapestIdlePrice: 0 };

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
    const found = { idleCount, speculativeCount, cheapestIdlePrice: shape.pricePerHour };
    all.add(shape.instanceType, found);
    if (shape.interruptionProbability === 0) stable.add(shape.instanceType, found);
  }
  return {
    count: (instanceType, stableOnly) => (stableOnly ? stable : all).of(instanceType),
  };
}

class Tallies {
  readonly #total: Tally = { ...NONE };
  readonly #byType = new Map<string, Tally>();

  of(instanceType: string | undefined): SupplyCount {
    return instanceType === undefined ? this.#total : (this.#byType.get(instanceType) ?? NONE);
  }

  add(instanceType: string, found: SupplyCount): void {
    let tally = this.#byType.get(instanceType);
    if (tally === undefined) {
      tally = { ...NONE };
      this.#byType.set(instanceType, tally);
    }
    addTo(tally, found);
    addTo(this.#total, found);
  }
}

/** A price counts only where there is an idle machine to have for it. */
function addTo(
  tally: Tally,
  { idleCount, speculativeCount, cheapestIdlePrice }: SupplyCount,
): void {
  if (idleCount > 0) {
    tally.cheapestIdlePrice =
      tally.idleCount === 0
        ? cheapestIdlePrice
        : Math.min(tally.cheapestIdlePrice, cheapestIdlePrice);
  }
  tally.idleCount += idleCount;
  tally.speculativeCount += speculativeCount;
}
