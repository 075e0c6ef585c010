// What one session was last told, per profile. A hint goes out when it differs from the last one
// that went out and the interval has passed; comparing with the last *sent* one is what makes a
// change that came too early go out in a later cycle. Ends with its session.
//
// Bound: one entry per demanded profile; profiles that are demanded no more are dropped at the end
// of every publication.

import { type Hint, isSameHint } from './hint.ts';

interface Sent {
  hint: Hint;
  atMs: number;
  /** The last publication in which the profile was demanded. */
  round: number;
}

export class HintMemory {
  readonly #sent = new Map<string, Sent>();
  #round = 0;
  #seenCount = 0;

  begin(): void {
    this.#round++;
    this.#seenCount = 0;
  }

  /** True when this hint must go out now; it then counts as sent. */
  isDue(fingerprint: string, hint: Hint, nowMs: number, intervalMs: number): boolean {
    const sent = this.#sent.get(fingerprint);
    if (sent === undefined) {
      this.#sent.set(fingerprint, { hint, atMs: nowMs, round: this.#round });
      this.#seenCount++;
      return true;
    }
    if (sent.round !== this.#round) this.#seenCount++;
    sent.round = this.#round;
    if (isSameHint(sent.hint, hint) || nowMs - sent.atMs < intervalMs) return false;
    sent.hint = hint;
    sent.atMs = nowMs;
    return true;
  }

  end(): void {
    if (this.#seenCount === this.#sent.size) return;
    for (const [fingerprint, { round }] of this.#sent) {
      if (round !== this.#round) this.#sent.delete(fingerprint);
    }
  }

  get size(): number {
    return this.#sent.size;
  }
}
