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

/**
 * Of two readings of the monotonic clock: the wall clock can jump, and a negative or day-long sample
 * in a histogram never goes away.
 */
export function durationSeconds(startMs: number, endMs: number): number {
  assertNotNegative(endMs - startMs, 'a monotonic clock does not go back');
  return (endMs - startMs) / 1_000;
}
