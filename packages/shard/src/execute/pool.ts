// Bounded execution: of each provider so many actions at once, twice as many waiting, each with a
// deadline of its own. A cycle never waits for it: what does not fit is dropped and derived again.
// Workers are slots, not threads; the work is a provider call or a wait for an operator.
//
// To offer is to queue (shard §6.2, step 10): workers take what was offered in a turn of its own, or
// a cycle that decides 50 actions would last until the frames and calls of all of them are written.
//
// Held, it begins nothing: a pause that let the queue run dry would be no kill switch.
//
// A provider that answers RESOURCE_EXHAUSTED slows down its own lane (provider-pace.ts). Bounds: one
// lane per provider name that was ever configured, three times the concurrency in each.

import { type Runtime, withDeadline } from '@bigfleet/base';
import type { ActionOrder, Execution } from './execution.ts';
import { ProviderLane } from './provider-lane.ts';
import type { SlowDown } from './provider-pace.ts';

/** Longer than any provider may take to accept; transitions go on without us. */
const EXECUTE_TIMEOUT_MS = 30_000;

export interface ExecutePoolOptions {
  readonly runtime: Runtime;
  /** Of each provider. */
  readonly concurrency: number;
  readonly timeoutMs?: number;
  /** Whose call the action is, by configured name. Asked when it is offered. */
  readonly providerOf: (order: ActionOrder) => string;
  /** Never rejects: an answer for everything that can happen. */
  readonly run: (order: ActionOrder, signal: AbortSignal) => Promise<Execution>;
  readonly onDone: (order: ActionOrder, execution: Execution, tookMs: number) => void;
  /** Every refusal; with what follows from it, when it is the first one of its window. */
  readonly onThrottled: (provider: string, slowDown: SlowDown | undefined) => void;
  /** It waited, and its provider has slowed down: to be derived again. */
  readonly onDropped: (order: ActionOrder) => void;
  /** There is room again for what was turned away. */
  readonly onRoom: () => void;
}

export class ExecutePool {
  readonly #options: ExecutePoolOptions;
  readonly #lanes = new Map<string, ProviderLane>();
  readonly #laneOf = new Map<ActionOrder, ProviderLane>();
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #concurrency: number;
  #isHeld = false;
  #isClosing = false;
  /** Free workers look at the queues soon. */
  #waking: Promise<void> | undefined;

  constructor(options: ExecutePoolOptions) {
    this.#options = options;
    this.#concurrency = Math.max(1, options.concurrency);
  }

  get queuedCount(): number {
    return [...this.#lanes.values()].reduce((sum, { queuedCount }) => sum + queuedCount, 0);
  }

  get runningCount(): number {
    return this.#running.size;
  }

  windowOf(provider: string): number {
    return this.#lanes.get(provider)?.window ?? this.#concurrency;
  }

  /** False when it must be derived again later. */
  offer(order: ActionOrder): boolean {
    if (this.#isHeld || this.#isClosing) return false;
    if (!this.#lane(this.#options.providerOf(order)).push(order)) return false;
    this.#waking ??= this.#wake();
    return true;
  }

  /** The provider took a call of a running order. */
  accepted(order: ActionOrder): void {
    if (this.#laneOf.get(order)?.accepted(order) === true) this.#options.onRoom();
  }

  /** The provider answered a call of a running order with RESOURCE_EXHAUSTED. */
  throttled(order: ActionOrder): void {
    const lane = this.#laneOf.get(order);
    if (lane === undefined) return;
    const slowDown = lane.refused(order);
    this.#options.onThrottled(lane.provider, slowDown);
    if (slowDown === undefined) return;
    for (const waiting of lane.trim()) this.#options.onDropped(waiting);
  }

  /**
   * Nothing is taken and nothing begins until `release`; what runs goes on. Returns what waited and
   * is not to be kept.
   */
  hold(isKept: (order: ActionOrder) => boolean): readonly ActionOrder[] {
    this.#isHeld = true;
    return this.#takeWaiting(isKept);
  }

  release(): void {
    this.#isHeld = false;
    this.#next();
  }

  /**
   * Drops what waits and lets what runs finish within its own deadline, or until `signal` says
   * that there is no more time. Returns what was dropped.
   */
  async close(signal: AbortSignal): Promise<readonly ActionOrder[]> {
    this.#isClosing = true;
    const dropped = this.#takeWaiting(() => false);
    const abort = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    await this.#waking;
    await Promise.all(this.#running);
    signal.removeEventListener('abort', abort);
    this.#stop.abort();
    for (const lane of this.#lanes.values()) lane.close();
    return dropped;
  }

  #lane(provider: string): ProviderLane {
    const known = this.#lanes.get(provider);
    if (known !== undefined) return known;
    const lane = new ProviderLane(provider, this.#options.runtime, this.#concurrency);
    this.#lanes.set(provider, lane);
    return lane;
  }

  #takeWaiting(isKept: (order: ActionOrder) => boolean): readonly ActionOrder[] {
    return [...this.#lanes.values()].flatMap((lane) => lane.takeWaiting(isKept));
  }

  async #wake(): Promise<void> {
    await this.#options.runtime.timers.turn();
    this.#waking = undefined;
    this.#next();
  }

  #next(): void {
    for (const lane of this.#lanes.values()) this.#nextOf(lane);
  }

  #nextOf(lane: ProviderLane): void {
    while (!this.#isHeld && !this.#stop.signal.aborted) {
      const order = lane.take(() => this.#nextOf(lane));
      if (order === undefined) break;
      this.#begin(lane, order);
    }
    if (!this.#isHeld && !this.#isClosing && lane.takeWantsMore()) this.#options.onRoom();
  }

  #begin(lane: ProviderLane, order: ActionOrder): void {
    this.#laneOf.set(order, lane);
    const work = this.#work(lane, order).finally(() => {
      this.#laneOf.delete(order);
      this.#running.delete(work);
      this.#nextOf(lane);
    });
    this.#running.add(work);
  }

  async #work(lane: ProviderLane, order: ActionOrder): Promise<void> {
    const { runtime, run, onDone, timeoutMs = EXECUTE_TIMEOUT_MS } = this.#options;
    const startMs = runtime.clock.monotonicMs();
    const deadline = withDeadline(runtime, timeoutMs, this.#stop.signal);
    try {
      const execution = await run(order, deadline.signal);
      lane.ended(order, execution === 'success' || typeof execution === 'object');
      onDone(order, execution, runtime.clock.monotonicMs() - startMs);
    } finally {
      deadline.dispose();
    }
  }
}
