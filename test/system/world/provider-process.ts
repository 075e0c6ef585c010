// A production kit provider on a life of its own: durable is what its store acknowledged.

import { createProvider, type Instance, type Provider } from '@bigfleet/providerkit';
import { CapacityProvider, openGate, Router } from '@bigfleet/wire';
import { CrudeBackend, nodeReadiness } from './backend.ts';
import { CrashStore } from './crash-store.ts';
import type { Life } from './life.ts';
import { logger, Process, type Surroundings } from './process.ts';
import type { ProviderBook } from './provider-book.ts';

export function providerAddress(name: string): string {
  return `${name}:9000`;
}

export interface ProviderProcessOptions {
  readonly book: ProviderBook;
  readonly slots: readonly Instance[];
}

export class ProviderProcess extends Process {
  readonly #options: ProviderProcessOptions;
  #running: Provider | undefined;

  constructor(world: Surroundings, options: ProviderProcessOptions) {
    super(options.book.name, world);
    this.#options = options;
  }

  override kill(): void {
    super.kill();
    this.#running = undefined;
  }

  /** The substrate takes the host of a machine away, and the author's code sees it. */
  async loseHost(machineId: string): Promise<void> {
    const provider = this.#running;
    if (provider === undefined) return;
    this.world.substrate.remove(machineId);
    await provider.reportHostLost(machineId, 'the spot market took it');
  }

  protected async run(life: Life): Promise<void> {
    const { network, substrate, isStormy, mutant } = this.world;
    const { book, slots } = this.#options;
    const provider = await createProvider({
      backend: new CrudeBackend({
        life,
        substrate,
        slots,
        refusals: () => (isStormy() ? 12 : 0),
        mutant,
      }),
      store: new CrashStore(book, life, mutant),
      runtime: life.runtime,
      logger,
      options: {
        timeouts: { create: 4_000, configure: 4_000, delete: 4_000 },
        reconcileIntervalMs: 20_000,
        failedCleanupAfterMs: 3_000,
        requireFence: true,
        readiness: nodeReadiness(substrate),
      },
    });
    if (life.isOver) return;
    this.#running = provider;
    const router = new Router({
      gate: openGate,
      onPanic: (path, error) =>
        this.world.witness.broken(`${this.host} panicked in ${path}: ${String(error)}`),
    });
    router.add(CapacityProvider, provider.handlers);
    network.listen(providerAddress(this.host), life.router(router));
  }
}
