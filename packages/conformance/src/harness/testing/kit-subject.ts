// The kit's provider as a subject: its real code over a substrate of this folder and a store that
// can be cut off, with whatever wrong layers a test puts around it.

import type { Runtime, VirtualRuntime } from '@bigfleet/base';
import { type Backend, createProvider, type Store } from '@bigfleet/providerkit';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import type { Layers, ProviderHandlers } from './layers.ts';
import { MortalStore } from './mortal-store.ts';
import { createSubstrate, type SubstrateOptions } from './substrate.ts';
import type { Subject } from './world.ts';

export interface KitSubjectOptions extends Partial<Omit<SubstrateOptions, 'runtime'>> {
  readonly layers?: Layers;
}

export class KitSubject implements Subject {
  /** Outlives the provider's process, as a cloud does. */
  readonly #substrate: Backend;
  readonly #layers: Layers;
  readonly #timeoutMs: number;
  #store: MortalStore = new MortalStore();

  constructor(time: VirtualRuntime, options: KitSubjectOptions = {}) {
    const runtime = time.runtimeFor('substrate');
    const { seedCount = 256, workMs = 30, hasDelete = true, timeoutMs = 2_000 } = options;
    this.#timeoutMs = timeoutMs;
    this.#layers = options.layers ?? {};
    const shape = { ...options, runtime, seedCount, workMs, hasDelete, timeoutMs };
    const right = createSubstrate(shape);
    this.#substrate = this.#layers.substrate?.(right, runtime) ?? right;
  }

  async boot(runtime: Runtime): Promise<ProviderHandlers> {
    const ms = this.#timeoutMs;
    const { store, settings, handlers } = this.#layers;
    const right: Store = this.#store;
    const provider = await createProvider({
      backend: this.#substrate,
      store: store?.(right, runtime) ?? right,
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
      options: { timeouts: { create: ms, configure: ms, drain: ms, delete: ms }, ...settings },
    });
    return handlers?.(provider.handlers, runtime) ?? provider.handlers;
  }

  kill(): void {
    this.#store = new MortalStore(this.#store.kill());
  }
}
