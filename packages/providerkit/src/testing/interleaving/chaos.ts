// The unreliable half of an interleaving run: a store that is slow and sometimes full, a substrate
// that is slow, refuses, hangs, or ignores its cancellation. All of it drawn from the seed.

import { BigFleetError, type Random, type Runtime, sleep } from '@bigfleet/base';
import type {
  Backend,
  ConfigureInstanceOptions,
  CreatedInstance,
  CreateInstanceOptions,
  DeleteInstanceOptions,
  DrainInstanceOptions,
  Instance,
} from '../../backend/backend.ts';
import type { OperationKind } from '../../model/machine.ts';
import type { MemoryStore } from '../../store/memory-store.ts';
import type { Store, StoreChange, StoreImage } from '../../store/store.ts';
import type { History } from './history.ts';

export class ChaosStore implements Store {
  readonly #inner: MemoryStore;
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #history: History;
  #isCut = false;
  #isCalm = false;
  #tail: Promise<void> = Promise.resolve();

  constructor(inner: MemoryStore, runtime: Runtime, history: History) {
    this.#inner = inner;
    this.#runtime = runtime;
    this.#random = runtime.random;
    this.#history = history;
  }

  load(): Promise<StoreImage | undefined> {
    return this.#inner.load();
  }

  initialise(incarnation: string): Promise<void> {
    return this.#inner.initialise(incarnation);
  }

  commit(changes: readonly StoreChange[]): Promise<void> {
    const mine = this.#tail.then(() => this.#commit(changes));
    this.#tail = mine.catch(() => undefined);
    return mine;
  }

  async close(): Promise<void> {}

  /** The process is gone: nothing is kept and nobody hears of it. */
  cut(): void {
    this.#isCut = true;
  }

  calm(): void {
    this.#isCalm = true;
  }

  storm(): void {
    this.#isCalm = false;
  }

  async #commit(changes: readonly StoreChange[]): Promise<void> {
    const delayMs = this.#random.below(4);
    if (delayMs > 0) await sleep(this.#runtime, delayMs);
    if (this.#isCut) return await new Promise(() => {});
    if (!this.#isCalm && this.#random.below(8) === 0) {
      this.#history.refused();
      throw new BigFleetError('store_unavailable', 'full');
    }
    await this.#inner.commit(changes);
    this.#history.kept(changes);
  }
}

export class ChaosBackend implements Backend {
  readonly #slots: readonly Instance[];
  readonly #runtime: Runtime;
  readonly #random: Random;
  readonly #history: History;
  #hostCount = 0;
  #isDead = false;

  constructor(slots: readonly Instance[], runtime: Runtime, history: History) {
    this.#slots = slots;
    this.#runtime = runtime;
    this.#random = runtime.random;
    this.#history = history;
  }

  /** Its process is gone: it neither does nor reports anything any more. */
  kill(): void {
    this.#isDead = true;
  }

  async describe(): Promise<readonly Instance[]> {
    const pricePerHour = 0.1 * (1 + this.#random.below(2));
    return this.#slots.map((slot) => ({ ...slot, pricePerHour }));
  }

  async createInstance(options: CreateInstanceOptions): Promise<CreatedInstance> {
    await this.#work('create', options);
    return { host: { provider: 'chaos', ref: `i-${++this.#hostCount}` } };
  }

  async configureInstance(options: ConfigureInstanceOptions): Promise<void> {
    await this.#work('configure', options);
  }

  async confirmNodeReady(): Promise<void> {
    await sleep(this.#runtime, this.#random.below(3));
  }

  async drainInstance(options: DrainInstanceOptions): Promise<void> {
    await this.#work('drain', options);
  }

  async deleteInstance(options: DeleteInstanceOptions): Promise<void> {
    await this.#work('delete', options);
  }

  async #work(
    kind: OperationKind,
    options: { machine: { id: string }; operationId: string; signal: AbortSignal },
  ): Promise<void> {
    const { machine, operationId, signal } = options;
    if (this.#isDead) return await new Promise(() => {});
    this.#history.workStarted(kind, machine.id, operationId, signal);
    try {
      const fate = this.#random.below(10);
      // One in ten ignores its cancellation, and may be late; one in ten refuses.
      await sleep(
        this.#runtime,
        this.#random.below(fate === 0 ? 30 : 7),
        fate === 0 ? undefined : signal,
      );
      if (fate === 1) throw new Error('refused');
    } finally {
      if (!this.#isDead) this.#history.workEnded(machine.id, signal);
    }
  }
}
