// Everything impure that a component may ask for, as arguments. Production passes
// the one real implementation (real.ts); the simulator passes virtual ones, and the
// whole system then replays from one seed. A component that reads a clock, arms a
// timer or draws randomness any other way breaks that, so lint refuses it.

import { assert } from '../assert.ts';

/** What every component takes first. */
export interface Runtime {
  readonly clock: Clock;
  readonly timers: Timers;
  /** Seeded, for decisions that must replay: jitter, sampling, shuffles. Never for secrets. */
  readonly random: Random;
  /** Unpredictable bytes, for ids that a peer must not guess. Seeded under simulation. */
  readonly entropy: Entropy;
}

export interface Clock {
  /** Milliseconds since an arbitrary start, never going back; may be fractional. For durations. */
  monotonicMs(): number;
  /** Nanoseconds since the Unix epoch. For stamps, never for durations: it can jump. */
  unixNanos(): bigint;
}

export interface Timers {
  /** Calls `fire` once, `delayMs` from now or later, never synchronously. */
  after(delayMs: number, fire: () => void): Timer;
  /** Resolves in a later turn of the event loop, so that a long loop lets I/O in. */
  turn(): Promise<void>;
}

export interface Timer {
  /** Idempotent; after it returns, `fire` will not be called. */
  cancel(): void;
}

export interface Random {
  /** Uniform in [0, 2³²). */
  uint32(): number;
  /** Uniform in [0, 1), 53 bits. */
  float(): number;
  /** Uniform integer in [0, bound); bound in [1, 2³²]. */
  below(bound: number): number;
  /**
   * An independent stream. The same parent seed and name give the same stream, and drawing
   * from one never shifts another, so adding a consumer does not change old runs.
   */
  stream(name: string): Random;
}

export interface Entropy {
  bytes(count: number): Uint8Array;
}

/**
 * The rule for delays that the real and the virtual timers share, so that a component which works in
 * simulation cannot fail in production over a delay that only one of them accepts. A deadline that
 * already passed fires as soon as possible. NaN and Infinity are bugs of the caller: the platform's
 * setTimeout would silently turn both into one millisecond.
 */
export function checkedDelayMs(delayMs: number): number {
  assert(Number.isFinite(delayMs), 'a timer delay must be a finite number', { delayMs });
  return delayMs > 0 ? delayMs : 0;
}
