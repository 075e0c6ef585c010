// Polls a condition of the real world until it holds or a deadline passes. A failing poll is
// normal while a server starts, so errors are kept and only the last one is reported, as the
// cause. For components of our own, use virtual time instead: polling is for other people's code.

import { HANG_MS, monotonicMs, sleep, withDeadline } from './real-time.ts';

export interface EventuallyOptions {
  /** Named in the failure. */
  readonly what: string;
  /** A hang guard unless the deadline itself is under test. */
  readonly withinMs?: number;
  readonly everyMs?: number;
  /** Extra text for the failure, such as a server's last output. */
  readonly details?: () => string;
  /** Checked before each poll: returns why waiting longer is pointless, or undefined. */
  readonly hopeless?: () => string | undefined;
}

/** What a poll returns when it is not there yet. */
export type NotYet = undefined | false;

/** Resolves with the first result that is neither `undefined` nor `false`. */
export async function eventually<T>(
  poll: (signal: AbortSignal) => Promise<T | NotYet> | T | NotYet,
  options: EventuallyOptions,
): Promise<T> {
  const { withinMs = HANG_MS } = options;
  const deadlineMs = monotonicMs() + withinMs;
  let lastError: unknown;
  for (;;) {
    const hopeless = options.hopeless?.();
    if (hopeless !== undefined) throw failure(options, hopeless, lastError);
    const leftMs = deadlineMs - monotonicMs();
    if (leftMs <= 0) throw failure(options, `not within ${withinMs} ms`, lastError);
    let cut: AbortSignal | undefined;
    try {
      const result = await withDeadline('poll', leftMs, async (signal) => {
        cut = signal;
        return poll(signal);
      });
      if (result !== undefined && result !== false) return result;
    } catch (error) {
      // The poll that the deadline cut off says nothing; an earlier failure says why.
      if (lastError === undefined || cut?.aborted !== true) lastError = error;
    }
    await sleep(Math.min(options.everyMs ?? 25, Math.max(0, deadlineMs - monotonicMs())));
  }
}

function failure(options: EventuallyOptions, why: string, cause: unknown): Error {
  const details = options.details?.() ?? '';
  const last = cause instanceof Error ? `; last: ${cause.message}` : '';
  return new Error(`${options.what}: ${why}${last}${details === '' ? '' : `\n${details}`}`, {
    cause,
  });
}
