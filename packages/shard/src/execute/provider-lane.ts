// What waits and runs of one provider. Lanes share nothing: neither a provider that slows us down nor
// one that hangs takes a worker or a place from another.
//
// Places: twice the workers, and one more for each that is free. A provider whose last word was a
// refusal has places for two windows only: what waits longer than that is older than what the next
// cycle would decide, and its machines are kept from other needs meanwhile.

import { BoundedQueue, type Runtime, type Timer } from '@bigfleet/base';
import type { ActionOrder } from './execution.ts';
import { ProviderPace, type SlowDown } from './provider-pace.ts';

export class ProviderLane {
  readonly provider: string;
  readonly #runtime: Runtime;
  readonly #concurrency: number;
  readonly #queue: BoundedQueue<ActionOrder>;
  readonly #pace: ProviderPace;
  /** By order that runs. */
  readonly #tickets = new Map<ActionOrder, number>();
  #pauseEnd: Timer | undefined;
  /** An order was turned away since a cycle was last asked for. */
  #hasTurnedAway = false;
  /** Since then. */
  #endedCount = 0;
  #advancedCount = 0;

  constructor(provider: string, runtime: Runtime, concurrency: number) {
    this.provider = provider;
    this.#runtime = runtime;
    this.#concurrency = concurrency;
    // What waits, and what free workers have not taken yet.
    this.#queue = new BoundedQueue(3 * concurrency);
    const random = runtime.random.stream(`execute pace of ${provider}`);
    this.#pace = new ProviderPace(concurrency, random);
  }

  get queuedCount(): number {
    return this.#queue.size;
  }

  get window(): number {
    return this.#pace.window;
  }

  /** False when there is no place. */
  push(order: ActionOrder): boolean {
    const { window, isRefusing } = this.#pace;
    const placeCount = 2 * (isRefusing ? window : this.#concurrency);
    const freeCount = Math.max(0, window - this.#tickets.size);
    const isTaken =
      this.#queue.size < placeCount + freeCount && this.#queue.push(order) !== 'refused';
    if (!isTaken) this.#turnedAway();
    return isTaken;
  }

  /** The next one that may begin now; `onPauseEnd` is called when one may begin later. */
  take(onPauseEnd: () => void): ActionOrder | undefined {
    if (this.#queue.size === 0 || this.#tickets.size >= this.#pace.window) return undefined;
    const pauseMs = this.#pace.pauseMs(this.#runtime.clock.monotonicMs());
    if (pauseMs > 0) {
      this.#pauseEnd ??= this.#runtime.timers.after(pauseMs, () => {
        this.#pauseEnd = undefined;
        onPauseEnd();
      });
      return undefined;
    }
    const order = this.#queue.shift();
    if (order !== undefined) this.#tickets.set(order, this.#pace.begin());
    return order;
  }

  /** `hasAdvanced`: the machine is on its way, or there. */
  ended(order: ActionOrder, hasAdvanced: boolean): void {
    this.#tickets.delete(order);
    this.#endedCount += 1;
    if (hasAdvanced) this.#advancedCount += 1;
  }

  /** The provider took a call of a running order; true when it had refused until now. */
  accepted(order: ActionOrder): boolean {
    return this.#pace.accepted(this.#tickets.get(order) ?? 0);
  }

  refused(order: ActionOrder): SlowDown | undefined {
    const nowMs = this.#runtime.clock.monotonicMs();
    return this.#pace.refused(this.#tickets.get(order) ?? 0, nowMs);
  }

  /** Takes out what has no place any more; a drain that is due keeps its place. */
  trim(): readonly ActionOrder[] {
    let placeCount = 2 * this.#pace.window;
    return this.takeWaiting((order) => order.isDrainDue === true || placeCount-- > 0);
  }

  takeWaiting(isKept: (order: ActionOrder) => boolean): readonly ActionOrder[] {
    const taken: ActionOrder[] = [];
    for (let left = this.#queue.size; left > 0; left--) {
      const order = this.#queue.shift();
      if (order === undefined) break;
      if (isKept(order)) this.#queue.push(order);
      else taken.push(order);
    }
    return taken;
  }

  /**
   * Once per refill: the lane refused an order, half of its places are free again, and at least half of
   * the orders that ended since have advanced. Actions that end without effect would be decided again at once.
   */
  takeWantsMore(): boolean {
    const isDue =
      this.#hasTurnedAway &&
      !this.#pace.isRefusing &&
      this.#queue.size <= this.#concurrency &&
      this.#advancedCount > 0 &&
      2 * this.#advancedCount >= this.#endedCount;
    if (isDue) this.#hasTurnedAway = false;
    return isDue;
  }

  #turnedAway(): void {
    this.#hasTurnedAway = true;
    this.#endedCount = 0;
    this.#advancedCount = 0;
  }

  close(): void {
    this.#pauseEnd?.cancel();
    this.#pauseEnd = undefined;
  }
}
