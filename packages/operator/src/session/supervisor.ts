// Bugs end the session client. The supervisor owns every promise that no caller awaits; its work handles
// its own expected failures, so a rejection is a bug: it is kept as the reason of `signal`, which ends the session client instead
// of leaving it half alive.

import { AssertionError } from '@bigfleet/base';

export class Supervisor {
  readonly #fatal = new AbortController();
  readonly #running = new Set<Promise<void>>();

  /** Aborts with the first bug. */
  get signal(): AbortSignal {
    return this.#fatal.signal;
  }

  watch(work: Promise<void>): void {
    const watched = work
      .catch((error: unknown) => this.#fatal.abort(error))
      .finally(() => this.#running.delete(watched));
    this.#running.add(watched);
  }

  /** Resolves when nothing runs any more, including what running work started meanwhile. */
  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }
}

/**
 * Tells a bug of ours from a failure of the cluster or the shard: an assertion goes up, every other
 * failure is an outcome that the caller handles. Call it first in a catch block around foreign work.
 */
export function rethrowBug(thrown: unknown): void {
  if (thrown instanceof AssertionError) throw thrown;
}

/** For log fields, which take errors and text. */
export function asLogValue(thrown: unknown): Error | string {
  return thrown instanceof Error ? thrown : String(thrown);
}
