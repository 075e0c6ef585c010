// Replicas of a coordinator under virtual time on the in-memory network, over one disk in memory:
// everything of the process but its sockets and files.

import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import {
  type Channel,
  type Client,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  type PeerIdentity,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { DEFAULT_REBALANCE_SETTINGS } from '../../moves/settings.ts';
import { refuseJoin } from '../../service/join-handlers.ts';
import { MemoryDisk } from '../../store/testing/memory-disk.ts';
import { MemoryStore } from '../../store/testing/memory-store.ts';
import { type AssembledCoordinator, assembleCoordinator, metricsOf } from '../assemble.ts';

const ONE_MS = { minMs: 1, maxMs: 1, tailProbability: 0, tailMs: 1 };

export interface StagedReplica extends AssembledCoordinator {
  readonly nodeId: string;
  readonly address: string;
  readonly store: MemoryStore;
  readonly registry: MetricRegistry;
  readonly bugs: unknown[];
}

export class CoordinatorStage {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly log: CapturedLog = captureSink();
  readonly disk: MemoryDisk = new MemoryDisk();
  readonly #transport: 'plaintext' | 'mtls';

  constructor(transport: 'plaintext' | 'mtls' = 'plaintext') {
    this.#transport = transport;
    this.time = createVirtualRuntime({ seed: 'coordinator', drain: drainMicrotasks });
    this.network = createMemoryNetwork({
      runtime: this.time.runtime,
      faults: { profile: { ...perfectLink, latency: ONE_MS }, events: [] },
    });
  }

  async start(
    nodeId: string,
    options: { readonly bootstrap?: boolean } = {},
  ): Promise<StagedReplica> {
    const { runtime } = this.time;
    const address = `${nodeId}:7790`;
    const registry = createRegistry();
    const { bootstrap = true } = options;
    const store = new MemoryStore({
      runtime,
      disk: this.disk,
      nodeId,
      grpcAddress: address,
      bootstrap,
    });
    const bugs: unknown[] = [];
    const assembled = assembleCoordinator({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: this.log }),
      metrics: metricsOf(registry, runtime),
      store,
      join: refuseJoin('store engine sqlite is single-replica'),
      rebalance: DEFAULT_REBALANCE_SETTINGS,
      transport: this.#transport,
      nodeId,
      dataDir: '/nowhere',
      version: 'test',
      hasReflection: false,
      beside: [],
      onBug: (error) => bugs.push(error),
    });
    this.network.listen(address, assembled.router);
    const starting = assembled.replica.start();
    await this.time.runFor(10);
    await starting;
    return { ...assembled, nodeId, address, store, registry, bugs };
  }

  channel(to: StagedReplica, identity?: PeerIdentity): Channel {
    const caller = identity === undefined ? {} : { identity };
    return this.network.connect({ from: 'caller', to: to.address, ...caller });
  }

  coordinator(to: StagedReplica, identity?: PeerIdentity): Client<typeof Coordinator> {
    return createClient(Coordinator, this.channel(to, identity));
  }

  admin(to: StagedReplica, identity?: PeerIdentity): Client<typeof CoordinatorAdmin> {
    return createClient(CoordinatorAdmin, this.channel(to, identity));
  }

  /** Lets a call finish under virtual time. */
  async run<T>(call: Promise<T>, forMs = 100): Promise<T> {
    const settled = call.then(
      (value) => ({ ok: true as const, value }),
      (error: unknown) => ({ ok: false as const, error }),
    );
    await this.time.runFor(forMs);
    const result = await settled;
    if (!result.ok) throw result.error;
    return result.value;
  }
}

/** The coordinator's lines of a scrape. */
export async function samples({
  registry,
}: Pick<StagedReplica, 'registry'>): Promise<readonly string[]> {
  let text = '';
  for (const family of registry.snapshot().families) {
    for await (const slice of family.format()) text += slice;
    text += '\n';
  }
  return text.split('\n').filter((line) => line.startsWith('bigfleet_coordinator_'));
}
