// Every wait of the suite: multiplied by `timeScale` (a real substrate needs minutes where a fake
// needs milliseconds) and ended by the run's signal. Polling is the contract's only way to learn
// anything, so all waits are bounded loops around one read.

import { sleep } from '@bigfleet/base';
import type { CheckContext } from './check.ts';

const POLL_MS = 20;
/** For traces: short enough to catch a transition of a few milliseconds. */
export const TRACE_POLL_MS = 1;
/** How long one transition may take before the check gives up on it. */
export const SETTLE_MS = 15_000;

export function scaled(context: CheckContext, ms: number): number {
  return ms * context.timeScale;
}

/** Scaled. */
export function pause(context: CheckContext, ms: number): Promise<void> {
  return sleep(context.runtime, scaled(context, ms), context.signal);
}

export interface PollOptions {
  /** Milliseconds from now, already scaled. The first read happens even at 0. */
  readonly forMs: number;
  readonly everyMs?: number;
}

/** Reads until the result is not undefined or time is up; undefined then. */
export async function poll<T>(
  context: CheckContext,
  options: PollOptions,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { clock } = context.runtime;
  const endMs = clock.monotonicMs() + options.forMs;
  for (;;) {
    const result = await read();
    if (result !== undefined) return result;
    const remainingMs = endMs - clock.monotonicMs();
    if (remainingMs <= 0) return undefined;
    const waitMs = Math.min(options.everyMs ?? POLL_MS, remainingMs);
    await sleep(context.runtime, waitMs, context.signal);
  }
}
