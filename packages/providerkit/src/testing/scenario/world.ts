// One provider under virtual time: backend, store, router and a client in one process, and the
// shorthands that scenario tests are written in.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { createLogger, type Logger } from '@bigfleet/telemetry';
import {
  CapacityProvider,
  type Channel,
  type Client,
  createClient,
  type Machine,
  openGate,
  ProviderAdmin,
  Router,
  RpcError,
} from '@bigfleet/wire';
import type { Instance } from '../../backend/backend.ts';
import { createProvider } from '../../create-provider.ts';
import type { KitObserver } from '../../observer.ts';
import type { ProviderOptions } from '../../options.ts';
import type { Provider } from '../../provider.ts';
import { MemoryStore } from '../../store/memory-store.ts';
import { GatedStore } from './gated-store.ts';
import { ScriptedBackend } from './scripted-backend.ts';

export interface WorldOptions {
  readonly seed?: string;
  readonly slots?: readonly Instance[];
  readonly options?: ProviderOptions;
  readonly observer?: KitObserver;
  readonly canDelete?: boolean;
  readonly delayMs?: number;
}

export function slot(id: string, change: Partial<Instance> = {}): Instance {
  return {
    id,
    instanceType: 'm.large',
    zone: 'z-1',
    capacityType: 'OnDemand',
    pricePerHour: 0.4,
    interruptionProbability: 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '4']]),
    labels: new Map([['pool', 'default']]),
    ...change,
  };
}

export class World {
  readonly time: VirtualRuntime;
  readonly memory: MemoryStore = new MemoryStore();
  readonly backend: ScriptedBackend;
  readonly logLines: string[] = [];
  readonly logger: Logger;
  readonly #options: WorldOptions;
  #store = new GatedStore(this.memory);
  #started: { provider: Provider; client: Client<typeof CapacityProvider> } | undefined;
  #admin: Client<typeof ProviderAdmin> | undefined;
  #startCount = 0;

  constructor(options: WorldOptions = {}) {
    this.#options = options;
    this.time = createVirtualRuntime({ seed: options.seed ?? 'kit', drain: drainMicrotasks });
    const { runtime } = this.time;
    const slots = options.slots ?? [slot('m-0'), slot('m-1')];
    this.backend = new ScriptedBackend({ runtime, slots, delayMs: options.delayMs ?? 10 });
    if (options.canDelete === false) delete this.backend.deleteInstance;
    const sink = {
      write: (line: string): void => {
        this.logLines.push(line);
      },
      flushSync: (): void => {},
    };
    this.logger = createLogger({ clock: runtime.clock, sink, level: 'debug' });
  }

  get store(): GatedStore {
    return this.#store;
  }

  get provider(): Provider {
    assert.ok(this.#started, 'the provider was started');
    return this.#started.provider;
  }

  get client(): Client<typeof CapacityProvider> {
    assert.ok(this.#started, 'the provider was started');
    return this.#started.client;
  }

  get admin(): Client<typeof ProviderAdmin> {
    assert.ok(this.#admin, 'the provider was started');
    return this.#admin;
  }

  /** Starts the provider and lets virtual time run until it is up, at most a minute. */
  async start(change: ProviderOptions = {}): Promise<this> {
    this.#startCount++;
    const starting = createProvider({
      backend: this.backend,
      store: this.#store,
      runtime: this.time.runtimeFor(`kit-${this.#startCount}`),
      options: { reconcileIntervalMs: 0, ...this.#options.options, ...change },
      observer: this.#options.observer ?? {},
      logger: this.logger,
    });
    const provider = await this.settle(starting, 60_000);
    const router = new Router({
      gate: openGate,
      onPanic: (_, error) => {
        throw error;
      },
    });
    router.add(CapacityProvider, provider.handlers).add(ProviderAdmin, provider.adminHandlers);
    const channel = directChannel(router);
    this.#started = { provider, client: createClient(CapacityProvider, channel) };
    this.#admin = createClient(ProviderAdmin, channel);
    return this;
  }

  /** Kill -9: nothing of the old process reaches the store any more. */
  crash(): void {
    this.#store.cut();
    this.#store = new GatedStore(this.memory);
    this.#started = undefined;
  }

  run(ms: number): Promise<void> {
    return this.time.runFor(ms);
  }

  /** Runs virtual time until the promise settles. */
  async settle<T>(promise: Promise<T>, maxMs = 1_000_000): Promise<T> {
    let isSettled = false;
    const watched = promise.finally(() => {
      isSettled = true;
    });
    // Handled here so that a rejection during the run is not reported as unhandled.
    watched.catch(() => undefined);
    const endMs = this.time.nowMs + maxMs;
    await this.time.runFor(0);
    // Event by event, so that time stands where the promise settled.
    for (let eventCount = 1; !isSettled && eventCount > 0; ) {
      const bounds = { maxEvents: 1, maxMs: endMs - this.time.nowMs };
      ({ eventCount } = await this.time.runUntilIdle(bounds));
    }
    assert.ok(isSettled, 'the promise settles in time');
    return await promise;
  }

  async get(id: string): Promise<Machine> {
    return await this.settle(this.client.get({ id }));
  }

  /** The status name of a call: 'OK' or how it failed. */
  async codeOf(call: Promise<unknown>): Promise<string> {
    try {
      await this.settle(call);
      return 'OK';
    } catch (error) {
      assert.ok(error instanceof RpcError, String(error));
      return error.code;
    }
  }

  async toIdle(machineId: string): Promise<Machine> {
    await this.settle(this.client.create({ machineId }));
    await this.run(1_000);
    return await this.get(machineId);
  }

  async toConfigured(machineId: string): Promise<Machine> {
    await this.toIdle(machineId);
    await this.settle(this.client.configure(binding(machineId)));
    await this.run(1_000);
    return await this.get(machineId);
  }
}

export function binding(machineId: string): {
  machineId: string;
  clusterId: string;
  bootstrapBlob: Uint8Array;
  shardMetadata: Record<string, string>;
} {
  const bootstrapBlob = new TextEncoder().encode('join-token-of-a');
  return { machineId, clusterId: 'a', bootstrapBlob, shardMetadata: { 'k/1': 'v1', 'k/2': '' } };
}

/** Straight into the router: bytes, gate and status mapping as over a transport, without delay. */
function directChannel(router: Router): Channel {
  return {
    unary: async (path, request, options) => {
      const method = router.find(path);
      assert.equal(method?.kind, 'unary', path);
      return await method.handle(request, {
        path,
        peer: { address: 'test', identity: { kind: 'unverified' } },
        metadata: new Map(),
        signal: options?.signal ?? new AbortController().signal,
        setTrailer: () => {},
      });
    },
    stream: () => {
      throw new TypeError('the provider has no streams');
    },
    close: () => {},
  };
}
