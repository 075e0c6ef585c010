// Engine §5.9: a Same need that found nothing for eight cycles stops trying, except for a probe every
// 32 cycles. Parking never reorders anything; it only stops futile attempts.

import { type CycleMemory, PARK_AFTER_CYCLES, REPROBE_EVERY_CYCLES } from '../model/cycle.ts';
import { type Need, needKey } from '../model/need.ts';
import { isZero } from '../model/resources.ts';
import type { Entry, Ledger } from './ledger.ts';

/** The age with which the cycle starts; plain needs have none. */
export function parkingAgeOf(memory: CycleMemory, need: Need): number {
  return need.profile.same === undefined ? 0 : (memory.parkingAges.get(needKey(need)) ?? 0);
}

export function isParked(ageCycles: number): boolean {
  return ageCycles >= PARK_AFTER_CYCLES && ageCycles % REPROBE_EVERY_CYCLES !== 0;
}

/**
 * Any progress, any satisfiable bucket, satisfaction or absence forgets the age. A drain that
 * frees a machine for the need is progress (docs/adr/0064): a gang that was parked while its
 * victims drained would leave them to their old tenants and preempt again at its next probe.
 */
export function nextParkingAges(ledger: Ledger): ReadonlyMap<string, number> {
  const ages = new Map<string, number>();
  for (const entry of ledger.entries) {
    if (isFruitless(entry)) ages.set(needKey(entry.need), entry.parkedAgeCycles + 1);
  }
  return ages;
}

function isFruitless(entry: Entry): boolean {
  return (
    entry.need.profile.same !== undefined &&
    !isZero(entry.remaining) &&
    entry.acquired.length === 0 &&
    entry.awaited.length === 0 &&
    entry.victims.length === 0 &&
    !entry.satisfiable
  );
}
