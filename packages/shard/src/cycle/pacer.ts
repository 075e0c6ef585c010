// When a cycle runs: every ten seconds, or when something woke it, never two at once and never
// two starts within 100 ms. Any number of wakes while a cycle runs give exactly one more: with
// thousands of clusters reporting, anything else pins the engine.

import type { Runtime, Timer } from '@bigfleet/base';

export const CYCLE_INTERVAL_MS = 10_000;
export const MIN_SPACING_MS = 100;

export interface PacerOptions {
  readonly runtime: Runtime;
  readonly intervalMs?: number | undefined;
  readonly run: () => Promise<void>;
  /** A cycle that throws is a bug: it is reported, and the loop goes on. */
  readonly onError: (error: unknown) => void;
}

export class Pacer {
  readonly #options: PacerOptions;
  #timer: Timer | undefined;
  #startedMs = Number.NEGATIVE_INFINITY;
  #isWoken = false;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: PacerOptions) {
    this.#options = options;
  }

  /** The first cycle runs at once: readiness waits for nothing else. */
  start(): void {
    this.wake();
  }

  wake(): void {
    if (this.#isStopped) return;
    this.#isWoken = true;
    if (this.#running === undefined) this.#schedule();
  }

  /** Resolves when the cycle that runs has ended; none starts after it. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  #schedule(): void {
    this.#timer?.cancel();
    if (this.#isStopped) return;
    const { runtime, intervalMs = CYCLE_INTERVAL_MS } = this.#options;
    const sinceMs = runtime.clock.monotonicMs() - this.#startedMs;
    const waitMs = (this.#isWoken ? MIN_SPACING_MS : intervalMs) - sinceMs;
    this.#timer = runtime.timers.after(Math.max(0, waitMs), () => this.#run());
  }

  #run(): void {
    this.#isWoken = false;
    this.#startedMs = this.#options.runtime.clock.monotonicMs();
    this.#running = this.#options
      .run()
      .catch((error: unknown) => this.#options.onError(error))
      .finally(() => {
        this.#running = undefined;
        this.#schedule();
      });
  }
}
