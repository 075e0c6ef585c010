// Real time for tests of real processes: the toolkit waits for kernels, etcd and sockets, which
// no virtual clock can hurry. Everything goes through the product's one real runtime, so the ban
// on direct timers holds here too. Refuses to wait without an end: every function takes a bound.

import { realRuntime } from '@bigfleet/base/real';

const { clock, timers } = realRuntime();

/**
 * When a wait has hung: the default of every wait here. Far beyond what a busy machine needs, so that
 * a test never fails for being slow, also where it waits for the product's own bounds one after the other
 * (a watchdog, a back-off, a drain that is given up); how fast things are is measured in `bench/`.
 */
export const HANG_MS = 300_000;
/** One attempt of a poll whose peer may be frozen: the poll must come to its next attempt. */
export const ATTEMPT_MS = 10_000;

export function monotonicMs(): number {
  return clock.monotonicMs();
}

export function unixMs(): number {
  return Number(clock.unixNanos() / 1_000_000n);
}

/** Resolves after `delayMs`; rejects with the signal's reason when it aborts first. */
export function sleep(delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) {
      reject(abortReason(signal));
      return;
    }
    const onAbort = (): void => {
      timer.cancel();
      reject(abortReason(signal));
    };
    const timer = timers.after(delayMs, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** Calls `fire` once, `delayMs` from now, unless cancelled. */
export function after(delayMs: number, fire: () => void): { cancel(): void } {
  return timers.after(delayMs, fire);
}

/**
 * Runs `work` with a signal that aborts after `withinMs`, and rejects at that moment even when
 * `work` ignores the signal: a wedged peer must fail the test with a name, not hang the run.
 */
export async function withDeadline<T>(
  what: string,
  withinMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { promise: expired, reject } = Promise.withResolvers<never>();
  const timer = timers.after(withinMs, () => {
    const reason = new Error(`${what}: nothing within ${withinMs} ms`);
    controller.abort(reason);
    reject(reason);
  });
  try {
    return await Promise.race([work(controller.signal), expired]);
  } finally {
    timer.cancel();
  }
}

function abortReason(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error('aborted', { cause: reason });
}
