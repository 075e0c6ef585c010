// The newest frame per key, applied by the pool: `Idle → Configuring → Configured` in quick
// succession costs one write. At most one handler per key runs, so frames of one machine are
// applied in arrival order. Whether more is pending and whether the key is done are decided in one
// synchronous step: a frame that arrives in between would otherwise be lost and its object stranded.

import type { WorkKind, WorkPool } from './work-pool.ts';

export interface KeyedLaneOptions<T> {
  readonly kind: WorkKind;
  readonly pool: WorkPool;
  /** Keys that wait or run; one more is refused. */
  readonly maxKeys: number;
  /** Handles its own failures. */
  readonly handle: (item: T) => Promise<void>;
}

interface Entry<T> {
  pending: T | undefined;
}

export class KeyedLane<T extends object> {
  readonly #options: KeyedLaneOptions<T>;
  readonly #entries = new Map<string, Entry<T>>();
  readonly #inFlight = new Set<Promise<void>>();

  constructor(options: KeyedLaneOptions<T>) {
    this.#options = options;
  }

  push(key: string, item: T): 'accepted' | 'refused' {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      known.pending = item;
      return 'accepted';
    }
    if (this.#entries.size >= this.#options.maxKeys) return 'refused';
    const entry: Entry<T> = { pending: item };
    this.#entries.set(key, entry);
    return this.#submit(key, entry);
  }

  /**
   * Drops what has not begun, for a new session: its replay repeats all that still holds, and an old
   * frame applied after the sweep would bring a swept object back. Resolves when what had begun is
   * done.
   */
  async forgetPending(): Promise<void> {
    for (const entry of this.#entries.values()) entry.pending = undefined;
    await Promise.all(this.#inFlight);
  }

  #submit(key: string, entry: Entry<T>): 'accepted' | 'refused' {
    const task = (): Promise<void> => this.#step(key, entry);
    if (this.#options.pool.submit(this.#options.kind, task) === 'queued') return 'accepted';
    this.#entries.delete(key);
    return 'refused';
  }

  async #step(key: string, entry: Entry<T>): Promise<void> {
    const item = entry.pending;
    entry.pending = undefined;
    if (item !== undefined) await this.#handle(item);
    if (entry.pending === undefined) this.#entries.delete(key);
    else this.#submit(key, entry);
  }

  async #handle(item: T): Promise<void> {
    const work = this.#options.handle(item);
    this.#inFlight.add(work);
    try {
      await work;
    } finally {
      this.#inFlight.delete(work);
    }
  }
}
