// A whole shard under virtual time on the in-memory network: the fake provider, asynchronous as real
// ones are, the engine inline, files in memory, and operators that a test drives by hand.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import type { StateCode } from '@bigfleet/engine';
import {
  type CapturedLog,
  captureSink,
  createLogger,
  createRegistry,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import {
  type Client,
  ClusterCapacityNeedsSchema,
  createClient,
  decode,
  ShardAdmin,
  TokenSource,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import type { AuditLog } from '../../audit/audit-log.ts';
import type { EngineHost } from '../../engine-host/engine-host.ts';
import { createInlineHost } from '../../engine-host/inline-host.ts';
import { rollupOf } from '../../engine-host/testing/random-inputs.ts';
import type { Provider } from '../../provider/provider.ts';
import { failureOf, ProviderError } from '../../provider/provider-error.ts';
import { ProviderSet } from '../../provider/provider-set.ts';
import { ProviderSource } from '../../provider/provider-source.ts';
import { FakeFile } from '../../rails/testing/fake-file.ts';
import { metricValue } from '../../session/testing/metric-reader.ts';
import { TestOperator } from '../../session/testing/test-operator.ts';
import { FakeProvider, InProcessProvider } from '../../testing/index.ts';
import { LIBRARY_SETTINGS, type RunningShard, type ShardSettings } from '../shard-options.ts';
import { startShard } from '../start-shard.ts';
import { MemorySegments } from '../../records/testing/memory-segments.ts';

const ADDRESS = 'shard:7780';
const ONE_MS = { minMs: 1, maxMs: 1, tailProbability: 0, tailMs: 1 };
const SETTLE_MS = 25;
const BOTH = ['reclaim-completion', 'node-identity'];

export interface ShardStageOptions {
  readonly seed?: string;
  readonly epoch?: bigint;
  readonly settings?: Partial<ShardSettings>;
  /** Without a provider when false. */
  readonly hasProvider?: boolean;
  /** How long a transition takes at the provider. */
  readonly latencyMs?: number;
  /** What the shard decides with; given the engine. */
  readonly host?: (engine: EngineHost) => EngineHost;
  /** Of an earlier life of the same shard. */
  readonly before?: ShardStage;
}

export class ShardStage {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly log: CapturedLog;
  readonly registry: MetricRegistry = createRegistry();
  readonly fake: FakeProvider;
  readonly rails: FakeFile;
  readonly records: MemorySegments = new MemorySegments();
  readonly audited: string[] = [];
  /** The provider cannot be reached for Lists. */
  isListFailing = false;
  /** The provider cannot be reached for Gets. */
  isGetFailing = false;
  #shard: RunningShard | undefined;
  readonly #options: ShardStageOptions;

  constructor(options: ShardStageOptions = {}) {
    const { before } = options;
    this.#options = options;
    this.time =
      before?.time ??
      createVirtualRuntime({ seed: options.seed ?? 'shard', drain: drainMicrotasks });
    const { runtime } = this.time;
    this.network =
      before?.network ??
      createMemoryNetwork({
        runtime,
        faults: { profile: { ...perfectLink, latency: ONE_MS }, events: [] },
      });
    const { latencyMs = 500 } = options;
    this.fake = before?.fake ?? new FakeProvider({ runtime, latencyMs });
    this.rails = before?.rails ?? new FakeFile();
    this.log = captureSink();
  }

  get shard(): RunningShard {
    assert.ok(this.#shard !== undefined, 'the shard was not started');
    return this.#shard;
  }

  async start(): Promise<this> {
    const { runtime } = this.time;
    const { epoch = 1n, settings = {}, hasProvider = true } = this.#options;
    const engine = createInlineHost(runtime);
    const provider = this.#provider(epoch);
    const sources = hasProvider ? [new ProviderSource({ name: 'alpha', provider })] : [];
    const starting = startShard({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: this.log }),
      registry: this.registry,
      shardId: 'shard-0',
      epoch,
      host: this.#options.host?.(engine) ?? engine,
      providers: new ProviderSet(sources),
      storage: { rails: this.rails, records: this.records, audit: this.#audit() },
      transport: {
        mode: 'plaintext',
        listen: async (router) => {
          const server = this.network.listen(ADDRESS, router);
          return { address: ADDRESS, stop: () => server.stop(2_000) };
        },
      },
      settings: { ...LIBRARY_SETTINGS, executeConcurrency: 8, recordsMaxBytes: 1e6, ...settings },
    });
    const [shard] = await Promise.all([starting, this.time.runFor(0)]);
    this.#shard = shard;
    return this;
  }

  /** A connected operator; it answers nothing by itself. */
  async connect(cluster: string, extensions: readonly string[] = BOTH): Promise<TestOperator> {
    const channel = this.network.connect({ from: cluster, to: ADDRESS });
    const operator = new TestOperator(channel).hello(cluster, extensions);
    await this.settle();
    assert.equal(operator.echoes[0], 'hello', `${cluster} is not connected`);
    return operator;
  }

  admin(): Client<typeof ShardAdmin> {
    return createClient(ShardAdmin, this.network.connect({ from: 'admin', to: ADDRESS }));
  }

  /** Lets frames arrive and be answered. */
  settle(): Promise<void> {
    return this.time.runFor(SETTLE_MS);
  }

  /** Runs on, answering every bootstrap request with a blob. */
  async serve(operator: TestOperator, forMs: number): Promise<void> {
    const answered = new Set<string>();
    for (let passedMs = 0; passedMs < forMs; passedMs += SETTLE_MS) {
      await this.settle();
      for (const { requestId } of operator.all('bootstrapRequest')) {
        if (answered.has(requestId)) continue;
        answered.add(requestId);
        const value = { requestId, userData: Uint8Array.of(7), ttlSeconds: 600n };
        operator.send({ case: 'bootstrapResponse', value });
      }
    }
  }

  stateOf(machineId: string): StateCode | undefined {
    const { fleet } = this.shard.parts.core;
    const slot = fleet.inventory.slotOf(machineId);
    return slot < 0 ? undefined : fleet.stateOf(slot);
  }

  metric(name: string, labels = ''): Promise<number> {
    return metricValue(this.registry, `bigfleet_shard_${name}`, labels);
  }

  logged(text: string): string[] {
    return this.log.lines.filter((line) => line.includes(text));
  }

  async stop(): Promise<void> {
    const stopped = this.shard.stop();
    await this.time.runFor(30_000);
    await stopped;
  }

  #provider(epoch: bigint): Provider {
    const { runtime } = this.time;
    const tokens = new TokenSource('shard-0', epoch);
    const inner = new InProcessProvider({ runtime, fake: this.fake, tokens });
    return {
      create: (id, limits) => inner.create(id, limits),
      configure: (order, limits) => inner.configure(order, limits),
      drain: (order, limits) => inner.drain(order, limits),
      delete: (id, limits) => inner.delete(id, limits),
      get: (id, limits) =>
        this.isGetFailing ? Promise.reject(unreachable()) : inner.get(id, limits),
      list: (request, limits) =>
        this.isListFailing ? Promise.reject(unreachable()) : inner.list(request, limits),
    };
  }

  #audit(): AuditLog {
    return {
      action: ({ kind, machine, outcome }) => this.audited.push(`${kind} ${machine} ${outcome}`),
      admin: ({ rpc, outcome }) => this.audited.push(`${rpc} ${outcome}`),
      reopen: () => {},
      flush: () => Promise.resolve(),
      close: () => Promise.resolve(),
    };
  }
}

function unreachable(): ProviderError {
  const status = 'UNAVAILABLE';
  return new ProviderError({ failure: failureOf(status), status, message: 'connection refused' });
}

/** For the session's `rollup` payload: so many cores of the pool `general`. */
export function demandOf(
  cluster: string,
  cores: number,
  priority?: number,
): ReturnType<typeof decode<typeof ClusterCapacityNeedsSchema>> {
  const bytes = rollupOf(cluster, cores, priority);
  return decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
}

/** A withdrawal: no need at all. */
export function noDemand(cluster: string): { clusterId: string; timestampUnixNanos: bigint } {
  return { clusterId: cluster, timestampUnixNanos: 2n };
}
