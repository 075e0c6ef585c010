// Money as whole numbers, so that sums do not depend on their order and the parts of a total are the total.
// A unit is a hundred-millionth of a dollar: rounding the prices of half a million machines stays below a
// cent of the unrounded sum, and sums are exact up to ninety million dollars an hour.

import { State } from '@bigfleet/engine';

const UNITS_PER_DOLLAR = 100_000_000;
/** One machine at a million dollars an hour is a mistake of its provider, not a reason to lose exactness. */
const MAX_UNITS = 1_000_000 * UNITS_PER_DOLLAR;

export function unitsOfDollars(dollars: number): number {
  if (!(dollars > 0)) return 0;
  return Math.min(Math.round(dollars * UNITS_PER_DOLLAR), MAX_UNITS);
}

export function dollarsOfUnits(units: number): number {
  return units / UNITS_PER_DOLLAR;
}

/** What a provider bills: machines that have a host, until they are deleted (as `dollars_per_hour`). */
export function isBilled(state: number): boolean {
  return state >= State.Idle && state <= State.Deleting;
}
