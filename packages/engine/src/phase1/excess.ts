// What crediting left: machines of a cluster that none of its needs claims. Phase 3 reclaims
// them without any satisfaction arithmetic of its own.

import { CELL, CLAIM, SLOT } from '../store/cluster-supply.ts';
import type { Inventory } from '../store/inventory.ts';
import { protect } from './credit.ts';

const nothing: readonly number[] = [];

/** Configured machines without a claim, in release order: keep order reversed. */
export function excessOf(inventory: Inventory, cluster: number): readonly number[] {
  const supply = inventory.supplyOf(cluster);
  if (supply === undefined) return nothing;
  const { priority, withheld } = inventory.columns;
  const { cells, configuredEnd } = supply;
  let excess: number[] | undefined;
  for (let at = configuredEnd - CELL; at >= 0; at -= CELL) {
    if (cells[at + CLAIM] !== 0) continue;
    const slot = cells[at + SLOT]!;
    // Nobody's claim protects it any more.
    protect(inventory, cells, at, priority[slot]!);
    if (withheld[slot] !== 0) continue;
    excess ??= [];
    excess.push(slot);
  }
  return excess ?? nothing;
}
