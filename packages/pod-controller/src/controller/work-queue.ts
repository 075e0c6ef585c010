// Keys that need work, each once and never two at a time. A key that is added while it is worked on is
// worked on again afterwards; one that failed waits longer each time. Bounded by the number of keys.

import { AssertionError, Backoff, BigFleetError, type Runtime, type Timer } from '@bigfleet/base';

export interface WorkQueueOptions {
  readonly runtime: Runtime;
  readonly concurrency: number;
  /** Rejects: the key is tried again later. */
  readonly work: (key: string, signal: AbortSignal) => Promise<void>;
  readonly onFailure: (key: string, thrown: unknown) => void;
  /** No new work from here on; what runs goes on until `settled` gives up on it. */
  readonly signal: AbortSignal;
}

const RETRY = { initialMs: 5, maxMs: 60_000, jitter: 0.5 };

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  /** In the order of their coming. */
  readonly #waiting = new Set<string>();
  readonly #running = new Set<string>();
  readonly #again = new Set<string>();
  readonly #retries = new Map<string, { readonly backoff: Backoff; timer: Timer | undefined }>();

  readonly #failed = Promise.withResolvers<never>();
  /** Ends what runs. */
  readonly #cut = new AbortController();
  #idle: (() => void) | undefined;

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Rejects with the first bug of the work; never resolves. */
  get failed(): Promise<never> {
    return this.#failed.promise;
  }

  /** Waiting, running, or due again later. */
  get size(): number {
    return this.#waiting.size + this.#running.size + this.#retries.size;
  }

  add(key: string): void {
    if (this.#running.has(key)) this.#again.add(key);
    else this.#waiting.add(key);
    this.#start();
  }

  /** After the signal: resolves when nothing runs any more, which is at most `graceMs` later. */
  async settled(graceMs: number): Promise<void> {
    for (const { timer } of this.#retries.values()) timer?.cancel();
    if (this.#running.size === 0) return;
    const idle = new Promise<void>((resolve) => {
      this.#idle = resolve;
    });
    const timer = this.#options.runtime.timers.after(graceMs, () =>
      this.#cut.abort(new BigFleetError('cancelled', 'the grace of the stop is over')),
    );
    await idle;
    timer.cancel();
  }

  #start(): void {
    const { concurrency, signal } = this.#options;
    for (const key of this.#waiting) {
      if (this.#running.size >= concurrency || signal.aborted) return;
      this.#waiting.delete(key);
      this.#retries.get(key)?.timer?.cancel();
      this.#running.add(key);
      void this.#run(key).catch((bug: unknown) => this.#failed.reject(bug));
    }
  }

  async #run(key: string): Promise<void> {
    const { work, signal, onFailure } = this.#options;
    try {
      await work(key, this.#cut.signal);
      this.#retries.delete(key);
    } catch (thrown) {
      if (thrown instanceof AssertionError) throw thrown;
      if (!signal.aborted) {
        onFailure(key, thrown);
        this.#retryLater(key);
      }
    } finally {
      this.#running.delete(key);
      if (this.#running.size === 0) this.#idle?.();
      if (this.#again.delete(key)) this.#waiting.add(key);
      this.#start();
    }
  }

  #retryLater(key: string): void {
    const { runtime } = this.#options;
    const retry = this.#retries.get(key) ?? {
      backoff: new Backoff(runtime.random.stream(`retry ${key}`), RETRY),
      timer: undefined,
    };
    retry.timer = runtime.timers.after(retry.backoff.nextMs(), () => this.add(key));
    this.#retries.set(key, retry);
  }
}
