// Exponential backoff with jitter. The jitter comes from the injected Random, so peers spread out
// in production and replay in simulation. It only computes delays; the number of attempts and the
// deadline over all of them stay with the caller, who knows what a retry may cost.

import { assert } from './assert.ts';
import type { Random } from './runtime/runtime.ts';

export interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** Growth per attempt; 2 when absent. */
  readonly factor?: number;
  /** Share of the delay that is random: 0 none, 1 anywhere in (0, delay]; 0.5 when absent. */
  readonly jitter?: number;
}

export class Backoff {
  readonly #random: Random;
  readonly #initialMs: number;
  readonly #maxMs: number;
  readonly #factor: number;
  readonly #jitter: number;
  #nextCeilingMs: number;
  #attemptCount = 0;

  constructor(random: Random, options: BackoffOptions) {
    const { initialMs, maxMs, factor = 2, jitter = 0.5 } = options;
    assert(initialMs > 0 && initialMs <= maxMs && Number.isFinite(maxMs), 'bad backoff range', {
      initialMs,
      maxMs,
    });
    assert(factor >= 1 && jitter >= 0 && jitter <= 1, 'bad backoff shape', { factor, jitter });
    this.#random = random;
    this.#initialMs = initialMs;
    this.#maxMs = maxMs;
    this.#factor = factor;
    this.#jitter = jitter;
    this.#nextCeilingMs = initialMs;
  }

  /** Attempts since the last reset. */
  get attemptCount(): number {
    return this.#attemptCount;
  }

  /** The delay before the next attempt: in ((1 − jitter) × ceiling, ceiling], never above maxMs. */
  nextMs(): number {
    const ceilingMs = this.#nextCeilingMs;
    this.#nextCeilingMs = Math.min(ceilingMs * this.#factor, this.#maxMs);
    this.#attemptCount++;
    return ceilingMs * (1 - this.#jitter * this.#random.float());
  }

  /** After a success: the next failure starts from the initial delay again. */
  reset(): void {
    this.#nextCeilingMs = this.#initialMs;
    this.#attemptCount = 0;
  }
}
