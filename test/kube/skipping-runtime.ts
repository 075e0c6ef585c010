// Real time that a test can skip ahead: clocks jump and timers that are due by then fire, while sockets go on as
// they do. For what waits minutes by design, on a server whose own time is real.

import type { Runtime, Timer } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';

interface Pending {
  readonly dueMs: number;
  readonly fire: () => void;
  readonly real: Timer;
}

export class SkippingRuntime {
  readonly runtime: Runtime;
  readonly #real: Runtime = realRuntime();
  readonly #pending = new Set<Pending>();
  #skippedMs = 0;

  constructor() {
    const { clock, timers, random, entropy } = this.#real;
    this.runtime = {
      random,
      entropy,
      clock: {
        monotonicMs: () => clock.monotonicMs() + this.#skippedMs,
        unixNanos: () => clock.unixNanos() + BigInt(this.#skippedMs) * 1_000_000n,
      },
      timers: {
        turn: () => timers.turn(),
        after: (delayMs, fire) => this.#after(delayMs, fire),
      },
    };
  }

  async skip(ms: number): Promise<void> {
    this.#skippedMs += ms;
    const nowMs = this.runtime.clock.monotonicMs();
    for (const pending of [...this.#pending].sort((a, b) => a.dueMs - b.dueMs)) {
      if (pending.dueMs > nowMs || !this.#pending.delete(pending)) continue;
      pending.real.cancel();
      pending.fire();
      await this.#real.timers.turn();
    }
  }

  #after(delayMs: number, fire: () => void): Timer {
    const pending: Pending = {
      dueMs: this.runtime.clock.monotonicMs() + delayMs,
      fire,
      real: this.#real.timers.after(delayMs, () => {
        if (this.#pending.delete(pending)) fire();
      }),
    };
    this.#pending.add(pending);
    return {
      cancel: () => {
        pending.real.cancel();
        this.#pending.delete(pending);
      },
    };
  }
}
