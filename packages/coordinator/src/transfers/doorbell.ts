// Wakes one waiting loop early. A ring while nobody waits is kept, so that what happened while the
// loop was busy is not slept over; several rings are one.

import type { Runtime } from '@bigfleet/base';

export class Doorbell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Resolves on a ring, after `ms`, or when the signal ends the wait; never rejects. */
  async wait(runtime: Pick<Runtime, 'timers'>, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) await this.#sleep(runtime, ms, signal);
    this.#isRung = false;
  }

  #sleep(runtime: Pick<Runtime, 'timers'>, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', wake);
        this.#wake = undefined;
        resolve();
      };
      const timer = runtime.timers.after(ms, wake);
      signal.addEventListener('abort', wake, { once: true });
      this.#wake = wake;
    });
  }
}
