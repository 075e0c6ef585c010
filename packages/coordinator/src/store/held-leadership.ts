// A leadership of an engine without a lease: it lasts until its holder or a newer one ends it.

import type { Leadership, LossReason } from './store.ts';

export class HeldLeadership implements Leadership {
  readonly term: bigint;
  readonly #controller = new AbortController();

  constructor(term: bigint) {
    this.term = term;
  }

  get lost(): AbortSignal {
    return this.#controller.signal;
  }

  isWithinWindow(): boolean {
    return !this.#controller.signal.aborted;
  }

  /** Idempotent: the first reason stands. */
  end(reason: LossReason): void {
    this.#controller.abort(reason);
  }
}
