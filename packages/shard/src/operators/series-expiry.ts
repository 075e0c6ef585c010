// Series with a cluster label end when the cluster has been away for an hour (observability §2):
// until then an alert on them keeps its history, afterwards a moved cluster leaves no trace.
//
// Bound: one timer per cluster that was connected within the last hour, MAX_ABSENT at most; beyond
// it the series end at once.

import type { Timer, TimerWheel } from '@bigfleet/base';

const ABSENCE_MS = 3_600_000;
const MAX_ABSENT = 10_000;

export class SeriesExpiry {
  readonly #wheel: TimerWheel;
  readonly #onExpired: (cluster: string) => void;
  readonly #absent = new Map<string, Timer>();

  constructor(wheel: TimerWheel, onExpired: (cluster: string) => void) {
    this.#wheel = wheel;
    this.#onExpired = onExpired;
  }

  /** Releases the timers; the series stay as they are. */
  stop(): void {
    for (const timer of this.#absent.values()) timer.cancel();
    this.#absent.clear();
  }

  present(cluster: string): void {
    this.#absent.get(cluster)?.cancel();
    this.#absent.delete(cluster);
  }

  /** Once per present(): a session opens before it closes. */
  absent(cluster: string): void {
    if (this.#absent.size >= MAX_ABSENT) return this.#onExpired(cluster);
    const timer = this.#wheel.after(ABSENCE_MS, () => {
      this.#absent.delete(cluster);
      this.#onExpired(cluster);
    });
    this.#absent.set(cluster, timer);
  }
}
