// A store without durability, for tests and ephemeral providers. It keeps its image after close,
// so a new kit over the same instance goes through the restart path.

import { StateImage } from './state-image.ts';
import type { Store, StoreChange, StoreImage } from './store.ts';

export class MemoryStore implements Store {
  #image: StateImage | undefined;

  async load(): Promise<StoreImage | undefined> {
    return this.#image?.toStoreImage();
  }

  async initialise(incarnation: string): Promise<void> {
    this.#image = new StateImage(incarnation);
  }

  async commit(changes: readonly StoreChange[]): Promise<void> {
    this.#image?.applyAll(changes);
  }

  async close(): Promise<void> {}
}
