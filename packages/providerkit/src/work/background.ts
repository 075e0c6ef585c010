// Work without a caller, and waits that may end without their event.

import { orAborted, type Runtime, sleep } from '@bigfleet/base';

/**
 * The named supervisor of everything that runs without a caller. Such work converts every expected
 * failure itself; what still rejects is a bug, and a bug ends the process instead of leaving a
 * machine that nobody works on.
 */
export function spawn(work: () => Promise<void>): void {
  work().catch((bug: unknown) => {
    // Out of the promise chain, where the process's own handler sees it.
    queueMicrotask(() => {
      throw bug;
    });
  });
}

/**
 * A wait that may end without its event: a stop must not hang on a store or a backend that does.
 * True when the promise resolved, false when the signal came first; rejects as the promise does.
 */
export async function waitFor(promise: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  try {
    await orAborted(promise, signal);
    return true;
  } catch (error) {
    if (signal.aborted && error === signal.reason) return false;
    throw error;
  }
}

/** False when the signal came first. */
export async function slept(runtime: Runtime, ms: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(runtime, ms, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/**
 * Bounded parallelism over many machines: enough to share a group commit, never one promise per
 * machine of the fleet.
 */
export interface ParallelOptions {
  readonly limit: number;
  /** Once aborted, no further item is begun. */
  readonly signal: AbortSignal;
}

export async function inParallel<T>(
  items: Iterable<T>,
  { limit, signal }: ParallelOptions,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let isExhausted = false;
  const lane = async (): Promise<void> => {
    while (!signal.aborted) {
      const next = iterator.next();
      if (next.done === true) {
        isExhausted = true;
        return;
      }
      await work(next.value);
    }
  };
  const lanes: Promise<void>[] = [];
  while (lanes.length < limit && !isExhausted && !signal.aborted) lanes.push(lane());
  await Promise.all(lanes);
}
