// One budget of writes for a process, as the owner of the API server grants it (`--qps`, `--burst`),
// shared by lanes so that a flood in one never starves another: tokens go to waiting lanes in turns by
// weight, and a lane that is idle leaves its share to the others. Cordons and Leases do not wait: a node
// that must not take Pods is worth more than a smooth rate, and a flood of writes must not cost the
// process its Lease; they borrow from the tokens to come. A 429 pauses the lane that met it, not the
// process. Lists and watches are not charged.

import { assert, type Runtime, type Timer } from '@bigfleet/base';

/** Share of a lane while all wait. Acknowledgements come last: they are cosmetic. */
const WEIGHTS = { node: 8, eviction: 8, demand: 8, event: 1, acknowledge: 2 } as const;

/** Cordons and Leases do not wait. */
export type WriteLane = keyof typeof WEIGHTS | 'cordon' | 'lease';

export interface WriteLanesOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly qps: number;
  readonly burst: number;
}

interface Lane {
  readonly weight: number;
  readonly waiting: Set<Waiter>;
  /** Turns left in this round. */
  credit: number;
  pausedUntilMs: number;
}

interface Waiter {
  readonly admit: () => void;
  readonly giveUp: () => void;
}

export class WriteLanes {
  readonly #options: WriteLanesOptions;
  readonly #lanes: Readonly<Record<keyof typeof WEIGHTS, Lane>>;
  /**
   * One listener for all writes that wait under one signal, which is that of the process for most: a
   * listener each would make every new one look through all before it.
   */
  readonly #waitersOf = new Map<AbortSignal, Set<Waiter>>();
  #tokens: number;
  #filledAtMs: number;
  #timer: Timer | undefined;

  constructor(options: WriteLanesOptions) {
    assert(options.qps > 0 && options.burst >= 1, 'a budget of writes must let writes through');
    this.#options = options;
    this.#tokens = options.burst;
    this.#filledAtMs = options.runtime.clock.monotonicMs();
    const lane = (weight: number): Lane => ({
      weight,
      waiting: new Set(),
      credit: weight,
      pausedUntilMs: 0,
    });
    this.#lanes = {
      node: lane(WEIGHTS.node),
      eviction: lane(WEIGHTS.eviction),
      demand: lane(WEIGHTS.demand),
      event: lane(WEIGHTS.event),
      acknowledge: lane(WEIGHTS.acknowledge),
    };
  }

  /** Resolves when the write may go out. */
  enter(lane: WriteLane, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#fill();
    if (lane === 'cordon' || lane === 'lease') {
      this.#tokens -= 1;
      return Promise.resolve();
    }
    const { waiting } = this.#lanes[lane];
    return new Promise((resolve, reject) => {
      const waiter: Waiter = {
        admit: () => {
          this.#unlisten(signal, waiter);
          resolve();
        },
        giveUp: () => {
          waiting.delete(waiter);
          reject(signal.reason);
        },
      };
      this.#listen(signal, waiter);
      waiting.add(waiter);
      this.#serve();
    });
  }

  /** The server answered 429 to a write of this lane. */
  pause(lane: WriteLane, ms: number): void {
    if (lane === 'cordon' || lane === 'lease') return;
    const until = this.#options.runtime.clock.monotonicMs() + ms;
    this.#lanes[lane].pausedUntilMs = Math.max(this.#lanes[lane].pausedUntilMs, until);
  }

  waitingCount(lane: keyof typeof WEIGHTS): number {
    return this.#lanes[lane].waiting.size;
  }

  #listen(signal: AbortSignal, waiter: Waiter): void {
    const waiters = this.#waitersOf.get(signal);
    if (waiters !== undefined) {
      waiters.add(waiter);
      return;
    }
    this.#waitersOf.set(signal, new Set([waiter]));
    signal.addEventListener('abort', this.#aborted);
  }

  #unlisten(signal: AbortSignal, waiter: Waiter): void {
    const waiters = this.#waitersOf.get(signal);
    waiters?.delete(waiter);
    if (waiters?.size === 0) this.#forget(signal);
  }

  #forget(signal: AbortSignal): void {
    this.#waitersOf.delete(signal);
    signal.removeEventListener('abort', this.#aborted);
  }

  readonly #aborted = ({ target }: Event): void => {
    const signal = target as AbortSignal;
    const waiters = this.#waitersOf.get(signal) ?? [];
    this.#forget(signal);
    for (const waiter of waiters) waiter.giveUp();
  };

  #serve(): void {
    this.#fill();
    while (this.#tokens >= 1) {
      const lane = this.#nextLane();
      if (lane === undefined) break;
      const [waiter] = lane.waiting;
      assert(waiter !== undefined, 'a lane in turn has a waiter');
      lane.waiting.delete(waiter);
      lane.credit -= 1;
      this.#tokens -= 1;
      waiter.admit();
    }
    this.#arm();
  }

  /** The waiting lane with the most turns left; a round ends when no waiting lane has any. */
  #nextLane(): Lane | undefined {
    const nowMs = this.#options.runtime.clock.monotonicMs();
    const waiting = Object.values(this.#lanes).filter(
      (lane) => lane.waiting.size > 0 && lane.pausedUntilMs <= nowMs,
    );
    if (waiting.length === 0) return undefined;
    if (waiting.every((lane) => lane.credit <= 0)) {
      for (const lane of Object.values(this.#lanes)) lane.credit = lane.weight;
    }
    return waiting.reduce((best, lane) => (lane.credit > best.credit ? lane : best));
  }

  #fill(): void {
    const { runtime, qps, burst } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    this.#tokens = Math.min(burst, this.#tokens + ((nowMs - this.#filledAtMs) * qps) / 1000);
    this.#filledAtMs = nowMs;
  }

  #arm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    const { runtime, qps } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    const lanes = Object.values(this.#lanes).filter((lane) => lane.waiting.size > 0);
    if (lanes.length === 0) return;
    const unpausedMs = Math.min(...lanes.map((lane) => lane.pausedUntilMs)) - nowMs;
    const tokenMs = ((1 - this.#tokens) * 1000) / qps;
    this.#timer = runtime.timers.after(Math.max(unpausedMs, tokenMs, 1), () => this.#serve());
  }
}
