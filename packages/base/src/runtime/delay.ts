// One rule for timer delays, shared by the real and the virtual timers, so that a component which
// works in simulation cannot fail in production over a delay that only one of them accepts.

import { assert } from '../assert.ts';

/**
 * A deadline that already passed fires as soon as possible. NaN and Infinity are bugs of the
 * caller: the platform's setTimeout would silently turn both into one millisecond.
 */
export function checkedDelayMs(delayMs: number): number {
  assert(Number.isFinite(delayMs), 'a timer delay must be a finite number', { delayMs });
  return delayMs > 0 ? delayMs : 0;
}
