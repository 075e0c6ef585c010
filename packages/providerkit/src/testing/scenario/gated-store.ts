// A store under a test's control: commits can be held, refused or delayed, and every change that
// was kept is on record in order. `cut` is the power cord: what was not kept by then never is.

import { BigFleetError } from '@bigfleet/base';
import type { MemoryStore } from '../../store/memory-store.ts';
import type { Store, StoreChange, StoreImage } from '../../store/store.ts';

export class GatedStore implements Store {
  readonly kept: StoreChange[] = [];
  isFull: boolean = false;
  isClosed: boolean = false;
  commitCount: number = 0;
  /** Awaited before each commit; a rejection refuses it. */
  before: () => Promise<void> = async () => {};
  readonly #inner: MemoryStore;
  #isCut = false;
  #tail: Promise<unknown> = Promise.resolve();

  constructor(inner: MemoryStore) {
    this.#inner = inner;
  }

  load(): Promise<StoreImage | undefined> {
    return this.#inner.load();
  }

  initialise(incarnation: string): Promise<void> {
    return this.#inner.initialise(incarnation);
  }

  /** In the order of the calls, as the interface promises. */
  commit(changes: readonly StoreChange[]): Promise<void> {
    const mine = this.#tail.then(() => this.#commit(changes));
    this.#tail = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  cut(): void {
    this.#isCut = true;
  }

  async #commit(changes: readonly StoreChange[]): Promise<void> {
    await this.before();
    if (this.#isCut) return await new Promise(() => {});
    if (this.isFull) throw new BigFleetError('store_unavailable', 'no space left');
    await this.#inner.commit(changes);
    this.commitCount++;
    this.kept.push(...changes);
  }
}
