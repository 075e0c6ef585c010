// Checks of numbers on hot paths. `assert` with fields would build an object per call, also when the
// condition holds; these build it only to fail.

import { assert } from '@bigfleet/base';

/** Finite and not below zero; NaN fails. */
export function assertNotNegative(value: number, message: string): void {
  if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) assert(false, message, { value });
}

export function assertFinite(value: number, message: string): void {
  if (!Number.isFinite(value)) assert(false, message, { value });
}
