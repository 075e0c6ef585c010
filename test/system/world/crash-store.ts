// The store of one life of a provider: it takes its time, and what it had not finished when the
// process died never was.

import { type Random, sleep } from '@bigfleet/base';
import type { Store, StoreChange, StoreImage } from '@bigfleet/providerkit';
import { type Life, never } from './life.ts';
import type { Mutant } from './mutant.ts';
import type { ProviderBook } from './provider-book.ts';

const SLOWEST_MS = 4;
/** How long the mutant's disk lags behind its promises. */
const EARLY_MS = 2_000;

export class CrashStore implements Store {
  readonly #book: ProviderBook;
  readonly #life: Life;
  readonly #random: Random;
  #tail: Promise<void> = Promise.resolve();

  readonly #isEarly: boolean;

  constructor(book: ProviderBook, life: Life, mutant: Mutant | undefined) {
    this.#book = book;
    this.#isEarly = mutant === 'early-ack';
    this.#life = life;
    this.#random = life.runtime.random.stream('store');
  }

  load(): Promise<StoreImage | undefined> {
    return this.#book.disk.load();
  }

  initialise(incarnation: string): Promise<void> {
    return this.#life.isOver ? never() : this.#book.disk.initialise(incarnation);
  }

  commit(changes: readonly StoreChange[]): Promise<void> {
    const mine = this.#tail.then(() => this.#commit(changes));
    this.#tail = mine;
    return this.#isEarly ? Promise.resolve() : mine;
  }

  async close(): Promise<void> {}

  async #commit(changes: readonly StoreChange[]): Promise<void> {
    const { runtime } = this.#life;
    const delayMs = this.#isEarly ? EARLY_MS : this.#random.below(SLOWEST_MS);
    if (delayMs > 0) await sleep(runtime, delayMs);
    if (this.#life.isOver) return await never();
    await this.#book.disk.commit(changes);
    this.#book.kept(changes, runtime.clock.monotonicMs());
    // The process may have died of this very step: nobody hears that it was durable.
    if (this.#life.isOver) return await never();
  }
}
