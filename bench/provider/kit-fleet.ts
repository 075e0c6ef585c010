// A provider of so many slots for the benches: the real kit over an instant backend, called through
// its handlers without a network. A transition is done when its end is durable too.

import { realRuntime } from '@bigfleet/base/real';
import { createProvider, type Instance, type Provider, type Store } from '@bigfleet/providerkit';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import {
  type CallContext,
  decode,
  encodeInit,
  ListFilterSchema,
  type MachineList,
  MachineListSchema,
  noMetadata,
} from '@bigfleet/wire';

export const runtime: ReturnType<typeof realRuntime> = realRuntime();

const call: CallContext = {
  path: '',
  peer: { address: 'bench', identity: { kind: 'unverified' } },
  metadata: noMetadata,
  signal: new AbortController().signal,
  setTrailer: () => {},
};

export class KitFleet {
  readonly ids: readonly string[];
  readonly #provider: Provider;
  readonly #endings: Endings;
  #sequence = 0n;

  constructor(provider: Provider, ids: readonly string[], endings: Endings) {
    this.#provider = provider;
    this.#endings = endings;
    this.ids = ids;
  }

  static async start(machineCount: number, store: Store): Promise<KitFleet> {
    const slots = Array.from({ length: machineCount }, (_, index) => slot(index));
    const endings = new Endings();
    const provider = await createProvider({
      backend: {
        describe: async () => slots,
        createInstance: async ({ machine }) => ({ host: { provider: 'bench', ref: machine.id } }),
        configureInstance: async () => {},
        confirmNodeReady: async () => {},
        drainInstance: async () => {},
        deleteInstance: async () => {},
      },
      store,
      runtime,
      options: { reconcileIntervalMs: 0, timeouts: { drain: 900_000 } },
      observer: { transition: () => endings.count() },
      logger: createLogger({ clock: runtime.clock, sink: captureSink(), level: 'error' }),
    });
    const ids = slots.map(({ id }) => id);
    return new KitFleet(provider, ids, endings);
  }

  /** One transition of each machine, all at once; resolves when their ends are durable. */
  async transition(kind: 'create' | 'delete', ids: readonly string[]): Promise<void> {
    const ended = this.#endings.after(ids.length);
    await Promise.all(ids.map((machineId) => this.#send(kind, machineId)));
    await ended;
  }

  async #send(kind: 'create' | 'delete', machineId: string): Promise<void> {
    this.#sequence += 1n;
    const token = { shardId: 'bench', shardEpoch: 1n, sequenceNumber: this.#sequence };
    const { create, delete: remove } = this.#provider.handlers;
    if (typeof create !== 'function' || typeof remove !== 'function') {
      throw new Error('mutations take messages');
    }
    const request = { machineId, ...token };
    if (kind === 'create') {
      await create({ $typeName: 'bigfleet.v1alpha1.CreateRequest', ...request }, call);
    } else {
      await remove({ $typeName: 'bigfleet.v1alpha1.DeleteRequest', ...request }, call);
    }
  }

  /** The bytes of a List since a cursor. */
  list(sinceRevision: Uint8Array): Promise<Uint8Array> {
    const { list } = this.#provider.handlers;
    if (typeof list === 'function') throw new Error('list takes bytes');
    const answer = list.handle(encodeInit(ListFilterSchema, { sinceRevision }), call);
    if (!(answer instanceof Promise)) throw new Error('list is unary');
    return answer;
  }

  async stop(): Promise<void> {
    await this.#provider.shutdown(0);
  }
}

/** Counts transitions that have ended, so that a round knows when it is over. */
class Endings {
  #left = 0;
  #resolve: () => void = () => {};

  after(count: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#left = count;
    this.#resolve = resolve;
    return promise;
  }

  count(): void {
    this.#left -= 1;
    if (this.#left === 0) this.#resolve();
  }
}

export function machineListOf(bytes: Uint8Array): MachineList {
  return decode(MachineListSchema, bytes, 'INTERNAL');
}

function slot(index: number): Instance {
  return {
    id: `bench/OnDemand/m6i.large/eu-west-1a/${String(index).padStart(6, '0')}`,
    instanceType: 'm6i.large',
    zone: 'eu-west-1a',
    capacityType: 'OnDemand',
    pricePerHour: 0.096,
    interruptionProbability: 0,
    resources: new Map([
      ['cpu', '2'],
      ['memory', '8Gi'],
    ]),
    labels: new Map([['example.com/pool', 'general']]),
  };
}
