// Backoff with jitter, doubling. The jitter comes from the injected Random, so peers spread out in
// production and replay in simulation. It only computes delays; the number of attempts and the
// deadline over all of them stay with the caller, who knows what a retry may cost.

import { assert } from './assert.ts';
import type { Random } from './runtime/runtime.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Share of the delay that is random: 0 none, 1 anywhere in (0, delay]; 0.5 when absent. */
  readonly jitter?: number;
}

export class Backoff {
  readonly #random: Random;
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #jitter: number;
  #nextCeilingMs: number;

  constructor(random: Random, options: BackoffOptions) {
    const { initialMs, maxMs, jitter = 0.5 } = options;
    assert(initialMs > 0 && initialMs <= maxMs && Number.isFinite(maxMs), 'bad backoff range', {
      initialMs,
      maxMs,
    });
    assert(jitter >= 0 && jitter <= 1, 'bad backoff jitter', { jitter });
    this.#random = random;
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#jitter = jitter;
    this.#nextCeilingMs = initialMs;
  }

  /** The delay before the next attempt: in ((1 − jitter) × ceiling, ceiling], never above maxMs. */
  nextMs(): number {
    const ceilingMs = this.#nextCeilingMs;
    this.#nextCeilingMs = Math.min(ceilingMs * 2, this.#maxMs);
    return ceilingMs * (1 - this.#jitter * this.#random.float());
  }

  /** After a success: the next failure starts from the initial delay again. */
  reset(): void {
    this.#nextCeilingMs = this.#initialMs;
  }
}
