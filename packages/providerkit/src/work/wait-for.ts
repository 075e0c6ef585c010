// Waits that may end without their event: a stop must not hang on a store or a backend that does.

import { orAborted } from '@bigfleet/base';

/** True when the promise resolved, false when the signal came first; rejects as the promise does. */
export async function waitFor(promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    await orAborted(promise, signal);
    return true;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return false;
    throw error;
  }
}
