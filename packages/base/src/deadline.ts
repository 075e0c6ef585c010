// Deadlines and cancellable waits on injected timers. Whatever ends a wait — time, the parent
// signal, the work itself — releases the timer and the parent's listener at once: a long-lived
// parent signal that keeps one listener per finished call is how servers leak. Cancelling work
// that ignores its signal is impossible; `orAborted` only stops waiting for it.

import { BigFleetError } from './errors/bigfleet-error.ts';
import type { Runtime } from './runtime/runtime.ts';

export interface Deadline {
  readonly signal: AbortSignal;
  /** Idempotent. Call it when the work ends, or use `runWithDeadline`, which does. */
  dispose(): void;
}

/** The deadline that a signal carries, so that a transport can tell it to the peer. */
const deadlines = new WeakMap<AbortSignal, number>();

/** Monotonic milliseconds of the signal's deadline, or undefined when it carries none. */
export function deadlineOf(signal: AbortSignal): number | undefined {
  return deadlines.get(signal);
}

/** Aborts with `deadline_exceeded` after `ms`, or earlier with the parent's own reason. */
export function withDeadline(
  runtime: Pick<Runtime, 'clock' | 'timers'>,
  ms: number,
  parent?: AbortSignal,
): Deadline {
  const controller = new AbortController();
  const own = runtime.clock.monotonicMs() + ms;
  const inherited = parent === undefined ? undefined : deadlines.get(parent);
  deadlines.set(controller.signal, inherited === undefined ? own : Math.min(own, inherited));
  if (parent?.aborted === true) {
    controller.abort(parent.reason);
    return { signal: controller.signal, dispose: () => {} };
  }
  const timer = runtime.timers.after(ms, () => {
    parent?.removeEventListener('abort', onParentAbort);
    controller.abort(new BigFleetError('deadline_exceeded', 'deadline passed', { fields: { ms } }));
  });
  const onParentAbort = (): void => {
    timer.cancel();
    controller.abort(parent?.reason);
  };
  parent?.addEventListener('abort', onParentAbort, { once: true });
  return {
    signal: controller.signal,
    dispose: () => {
      timer.cancel();
      parent?.removeEventListener('abort', onParentAbort);
    },
  };
}

export interface DeadlineOptions {
  readonly ms: number;
  readonly parent?: AbortSignal;
}

/** Hands `work` a signal that ends with the deadline, and stops waiting when it does. */
export async function runWithDeadline<T>(
  runtime: Pick<Runtime, 'clock' | 'timers'>,
  options: DeadlineOptions,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const deadline = withDeadline(runtime, options.ms, options.parent);
  try {
    deadline.signal.throwIfAborted();
    return await orAborted(work(deadline.signal), deadline.signal);
  } finally {
    deadline.dispose();
  }
}

/** Settles as `promise` does, or rejects with the signal's reason, whichever comes first. */
export function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    const release = (): void => signal.removeEventListener('abort', onAbort);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(release);
  });
}

/** Resolves after `ms`, or rejects with the signal's reason if that comes first. */
export function sleep(
  runtime: Pick<Runtime, 'timers'>,
  ms: number,
  signal?: AbortSignal,
): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason);
    const timer = runtime.timers.after(ms, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = (): void => {
      timer.cancel();
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}
