// Bounded execution: so many actions at once, twice as many waiting, each with a deadline of its
// own. A cycle never waits for it: what does not fit is dropped and derived again. Workers are
// slots, not threads; the work is a provider call or a wait for an operator.
//
// To offer is to queue (shard §6.2, step 10): workers take what was offered in a turn of its own, or
// a cycle that decides 50 actions would last until the frames and calls of all of them are written.
//
// Held, it begins nothing: a pause that let the queue run dry would be no kill switch.

import { BoundedQueue, type Runtime, withDeadline } from '@bigfleet/base';
import type { Execution } from './execution.ts';
import type { ActionOrder } from './order.ts';

/** Longer than any provider may take to accept; transitions go on without us. */
const EXECUTE_TIMEOUT_MS = 30_000;

export interface ExecutePoolOptions {
  readonly runtime: Runtime;
  readonly concurrency: number;
  readonly timeoutMs?: number;
  /** Never rejects: an answer for everything that can happen. */
  readonly run: (order: ActionOrder, signal: AbortSignal) => Promise<Execution>;
  readonly onDone: (order: ActionOrder, execution: Execution, tookMs: number) => void;
}

export class ExecutePool {
  readonly #options: ExecutePoolOptions;
  readonly #queue: BoundedQueue<ActionOrder>;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  readonly #concurrency: number;
  #isHeld = false;
  /** Free workers look at the queue soon. */
  #waking: Promise<void> | undefined;

  constructor(options: ExecutePoolOptions) {
    this.#options = options;
    this.#concurrency = Math.max(1, options.concurrency);
    // What waits, and what free workers have not taken yet.
    this.#queue = new BoundedQueue({ capacity: 3 * this.#concurrency, overflow: 'refuse' });
  }

  get queuedCount(): number {
    return this.#queue.size;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** False when it must be derived again later. */
  offer(order: ActionOrder): boolean {
    if (this.#isHeld || this.#stop.signal.aborted) return false;
    const freeCount = this.#concurrency - this.#running.size;
    if (this.#queue.size >= 2 * this.#concurrency + freeCount) return false;
    if (this.#queue.push(order) === 'refused') return false;
    this.#waking ??= this.#wake();
    return true;
  }

  /**
   * Nothing is taken and nothing begins until `release`; what runs goes on. Returns what waited and
   * is not to be kept.
   */
  hold(isKept: (order: ActionOrder) => boolean): readonly ActionOrder[] {
    this.#isHeld = true;
    const waiting = this.#takeQueued();
    for (const order of waiting) if (isKept(order)) this.#queue.push(order);
    return waiting.filter((order) => !isKept(order));
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
    const dropped = this.#takeQueued();
    const abort = (): void => this.#stop.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    await this.#waking;
    await Promise.all(this.#running);
    signal.removeEventListener('abort', abort);
    this.#stop.abort();
    return dropped;
  }

  #takeQueued(): readonly ActionOrder[] {
    const taken: ActionOrder[] = [];
    for (let order = this.#queue.shift(); order !== undefined; order = this.#queue.shift()) {
      taken.push(order);
    }
    return taken;
  }

  async #wake(): Promise<void> {
    await this.#options.runtime.timers.turn();
    this.#waking = undefined;
    this.#next();
  }

  #next(): void {
    while (!this.#isHeld && this.#running.size < this.#concurrency) {
      const order = this.#queue.shift();
      if (order === undefined) return;
      const work = this.#work(order).finally(() => {
        this.#running.delete(work);
        if (!this.#stop.signal.aborted) this.#next();
      });
      this.#running.add(work);
    }
  }

  async #work(order: ActionOrder): Promise<void> {
    const { runtime, run, onDone, timeoutMs = EXECUTE_TIMEOUT_MS } = this.#options;
    const startMs = runtime.clock.monotonicMs();
    const deadline = withDeadline(runtime, timeoutMs, this.#stop.signal);
    try {
      const execution = await run(order, deadline.signal);
      onDone(order, execution, runtime.clock.monotonicMs() - startMs);
    } finally {
      deadline.dispose();
    }
  }
}
