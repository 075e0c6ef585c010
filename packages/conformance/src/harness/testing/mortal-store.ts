// A store that a test can cut off from its process, as SIGKILL does: what was committed stays,
// what the dead process still tries neither succeeds nor fails.

import { MemoryStore, type Store, type StoreChange, type StoreImage } from '@bigfleet/providerkit';

export class MortalStore implements Store {
  readonly #kept: MemoryStore;
  #isDead = false;

  /** Over what a predecessor left. */
  constructor(kept: MemoryStore = new MemoryStore()) {
    this.#kept = kept;
  }

  /** The process is gone; the next one starts over the result. */
  kill(): MemoryStore {
    this.#isDead = true;
    return this.#kept;
  }

  load(): Promise<StoreImage | undefined> {
    return this.#kept.load();
  }

  initialise(incarnation: string): Promise<void> {
    return this.#kept.initialise(incarnation);
  }

  commit(changes: readonly StoreChange[]): Promise<void> {
    if (this.#isDead) return new Promise<void>(() => {});
    return this.#kept.commit(changes);
  }

  async close(): Promise<void> {}
}
