// Notices when nothing that hints are made of has changed: it writes down every count that a hint
// was worked out from, and asks a later supply for the same ones. As long as all of them are the same,
// so is every hint, and the pairs of cluster and profile need not be looked at one by one: with
// thousands of sessions at rest that was a fifth of the main thread.
//
// Bound: MAX_COUNTS written down; beyond them a new version begins, which costs one full look.

import type { FleetSupply, SupplyCount } from './supply.ts';

const MAX_COUNTS = 10_000;

type Counts = Map<string | undefined, SupplyCount>;

export class SupplyWatch implements FleetSupply {
  readonly #all: Counts = new Map();
  readonly #stable: Counts = new Map();
  #supply: FleetSupply | undefined;
  #version = 0;

  /** Two publications of one version give every profile the same hint. */
  get version(): number {
    return this.#version;
  }

  /** Of the next publication. */
  follow(supply: FleetSupply): void {
    this.#supply = supply;
    const isSame = isStill(this.#all, supply, false) && isStill(this.#stable, supply, true);
    if (isSame && this.#all.size + this.#stable.size <= MAX_COUNTS) return;
    this.#version += 1;
    this.#all.clear();
    this.#stable.clear();
  }

  count(instanceType: string | undefined, stableOnly: boolean): SupplyCount {
    const found = this.#supply?.count(instanceType, stableOnly) ?? NONE;
    (stableOnly ? this.#stable : this.#all).set(instanceType, found);
    return found;
  }
}

const NONE: SupplyCount = { idleCount: 0, speculativeCount: 0, cheapestIdlePrice: 0 };

function isStill(counts: Counts, supply: FleetSupply, stableOnly: boolean): boolean {
  for (const [instanceType, before] of counts) {
    const { idleCount, speculativeCount, cheapestIdlePrice } = supply.count(
      instanceType,
      stableOnly,
    );
    if (idleCount !== before.idleCount || speculativeCount !== before.speculativeCount)
      return false;
    if (cheapestIdlePrice !== before.cheapestIdlePrice) return false;
  }
  return true;
}
