// A shard core that can be read, under virtual time on the in-memory network: the fake provider,
// the engine inline with its trace, records in memory, and readers behind the real router and gate.

import assert from 'node:assert/strict';
import { createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { ConfigureBrake } from '@bigfleet/engine';
import { createRegistry, type MetricRegistry } from '@bigfleet/telemetry';
import {
  type Client,
  createClient,
  createGate,
  decode,
  encodeInit,
  type MachineView,
  MachineViewSchema,
  type PeerIdentity,
  Router,
  sanOf,
  ShardQuery,
  ShardRead,
  TokenSource,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import { ShardCore } from '../../core/shard-core.ts';
import { openRails } from '../../core/testing/stage.ts';
import type { ActuationRails } from '../../cycle/dispose.ts';
import type { EngineHost } from '../../engine-host/engine-host.ts';
import { createInlineHost } from '../../engine-host/inline-host.ts';
import { rollupOf } from '../../engine-host/testing/random-inputs.ts';
import { MemorySegments } from '../../records/testing/memory-segments.ts';
import { ProviderSet } from '../../provider/provider-set.ts';
import { ProviderSource } from '../../provider/provider-source.ts';
import { RecordWriter } from '../../records/record-writer.ts';
import type { SessionSummary } from '../../operators/operators.ts';
import { metricValue } from '../../session/testing/metric-reader.ts';
import { FakeProvider, InProcessProvider } from '../../testing/index.ts';
import { shardQueryHandlers, shardReadHandlers } from '../read-handlers.ts';
import { inlineRecordsReader } from '../records-reader.ts';
import { ShardReading } from '../shard-reading.ts';

const ADDRESS = 'shard:7780';
const ONE_MS = { minMs: 1, maxMs: 1, tailProbability: 0, tailMs: 1 };
const SETTLE_MS = 25;
export const EPOCH = 7n;

export function roleIdentity(role: 'readonly' | 'admin' | 'cluster' | 'shard'): PeerIdentity {
  const id = role === 'cluster' || role === 'shard' ? 'one' : '';
  return { kind: 'verified', role, id, san: sanOf(role, id), commonName: undefined };
}

export class ReadStage {
  readonly time: VirtualRuntime;
  readonly network: MemoryNetwork;
  readonly fake: FakeProvider;
  readonly host: EngineHost;
  readonly core: ShardCore;
  readonly reading: ShardReading;
  readonly registry: MetricRegistry = createRegistry();
  readonly segments: MemorySegments = new MemorySegments();
  readonly records: RecordWriter;
  readonly brake: ConfigureBrake = new ConfigureBrake();
  readonly nodeNames: Map<string, string> = new Map();
  readonly sessions: SessionSummary[] = [];
  readonly bugs: unknown[] = [];
  readonly hashes: string[] = [];
  /** By cycle: every machine as a reader should see it when the cycle ended. */
  readonly statesAtEnd: Map<number, ReadonlyMap<string, MachineView>> = new Map();

  /** What a test may change while the shard runs. */
  rails: ActuationRails = openRails;

  constructor(seed: string, options: { readonly recordsMaxBytes?: number } = {}) {
    this.time = createVirtualRuntime({ seed, drain: drainMicrotasks });
    const { runtime } = this.time;
    this.network = createMemoryNetwork({
      runtime,
      faults: { profile: { ...perfectLink, latency: ONE_MS }, events: [] },
      // Small, so that a reader that does not read is felt at once.
      settings: { windowBytes: 2_048 },
    });
    this.fake = new FakeProvider({ runtime, latencyMs: 500 });
    this.host = createInlineHost(runtime, { hasTrace: true });
    this.records = new RecordWriter({
      files: this.segments,
      clock: runtime.clock,
      epoch: EPOCH,
      maxBytes: options.recordsMaxBytes ?? 1 << 20,
      rotateTrace: () => this.host.rotateTrace(),
      onError: (error) => this.bugs.push(error),
    });
    this.core = this.#createCore();
    const { fleet } = this.core;
    this.reading = new ShardReading({
      runtime,
      registry: this.registry,
      epoch: EPOCH,
      host: this.host,
      fleet,
      notes: {
        nodeName: (id) => this.nodeNames.get(id),
        drainDeadlineMs: () => undefined,
        frozenTransferId: () => undefined,
      },
      supervise: (_, work) => {
        work.catch((error: unknown) => this.bugs.push(error));
      },
    });
    this.#serve();
  }

  query(
    identity: PeerIdentity = roleIdentity('readonly'),
    from = 'reader',
  ): Client<typeof ShardQuery> {
    return createClient(ShardQuery, this.network.connect({ from, to: ADDRESS, identity }));
  }

  read(identity: PeerIdentity = roleIdentity('readonly')): Client<typeof ShardRead> {
    return createClient(ShardRead, this.network.connect({ from: 'reader', to: ADDRESS, identity }));
  }

  async demand(cluster: string, cores: number, priority?: number): Promise<void> {
    const bytes = rollupOf(cluster, cores, priority);
    const applied = this.host.applyRollup({ cluster, bytes, isGuarded: false });
    this.core.wake();
    await this.settle();
    await applied;
  }

  settle(): Promise<void> {
    return this.time.runFor(SETTLE_MS);
  }

  /** Runs time until the answer is there. */
  async answer<T>(promise: Promise<T>): Promise<T> {
    let isDone = false;
    const done = promise.finally(() => (isDone = true));
    done.catch(() => undefined);
    for (let tries = 0; !isDone && tries < 400; tries++) await this.settle();
    assert.ok(isDone, 'no answer in ten seconds');
    return done;
  }

  /** Everything that a stream says until it ends. */
  all<T>(stream: AsyncIterable<T>): Promise<T[]> {
    const collect = async (): Promise<T[]> => {
      const items: T[] = [];
      for await (const item of stream) items.push(item);
      return items;
    };
    return this.answer(collect());
  }

  metric(name: string): Promise<number> {
    return metricValue(this.registry, `bigfleet_shard_${name}`);
  }

  async stop(): Promise<void> {
    this.reading.stop();
    const stopped = this.core.stop(AbortSignal.abort(new Error('the test is over')));
    await this.time.runFor(60_000);
    await stopped;
    await this.records.close();
    this.fake.close();
    this.network.close();
    assert.deepEqual(this.bugs, []);
  }

  #createCore(): ShardCore {
    const { runtime } = this.time;
    const tokens = new TokenSource('shard-0', EPOCH);
    const provider = new InProcessProvider({ runtime, fake: this.fake, tokens });
    return new ShardCore({
      runtime,
      host: this.host,
      providers: new ProviderSet([new ProviderSource({ name: 'alpha', provider })]),
      blobs: {
        pull: () =>
          Promise.resolve({
            kind: 'blob',
            userData: Uint8Array.of(1),
            isExpired: () => false,
          }),
      },
      drains: {
        begin: () => 'provider_now',
        hold: () => undefined,
        resume: () => undefined,
        abandon: () => undefined,
      },
      executeConcurrency: 8,
      rails: () => this.rails,
      heldOff: () => new Set(),
      brake: this.brake,
      onNodeChange: () => undefined,
      observer: {
        onCycle: (report) => {
          this.hashes.push(report.answer.actionHash);
          this.records.append({ ...report.answer, dispositions: report.dispositions });
          this.reading.cycleEnded(report);
          this.statesAtEnd.set(report.answer.cycle, this.#viewAll());
        },
        onReleased: (order) => this.reading.released(order),
        onExecuted: () => undefined,
        onRefused: () => undefined,
        onRejectedRecord: () => undefined,
        onSkippedMetadata: () => undefined,
        onWithheld: () => undefined,
        onFenced: (order) => this.bugs.push(order),
        onThrottled: () => undefined,
        // A machine that fails on its way is a problem of its action, and no bug.
        onProblem: (_, problem) => {
          if (problem.startsWith('a bug')) this.bugs.push(problem);
        },
        onCycleError: (error) => this.bugs.push(error),
      },
    });
  }

  #viewAll(): ReadonlyMap<string, MachineView> {
    const { inventory } = this.core.fleet;
    const views = new Map<string, MachineView>();
    for (const [slot, id] of inventory.ids.entries()) {
      if (id === '') continue;
      const bytes = encodeInit(MachineViewSchema, this.reading.views.viewOf(slot));
      views.set(id, decode(MachineViewSchema, bytes, 'INTERNAL'));
    }
    return views;
  }

  #serve(): void {
    const { runtime } = this.time;
    const { fleet } = this.core;
    const options = {
      runtime,
      shardId: 'shard-0',
      epoch: EPOCH,
      startedUnixNanos: runtime.clock.unixNanos(),
      host: this.host,
      fleet,
      brake: this.brake,
      reading: this.reading,
      records: inlineRecordsReader(this.segments, runtime.timers),
      status: () => ({ version: '1.2.3', ready: true, sessions: this.sessions.length }),
      sessions: () => this.sessions,
    };
    const router = new Router({
      gate: createGate({ transport: 'mtls' }),
      onPanic: (_, error) => this.bugs.push(error),
    });
    router.add(ShardRead, shardReadHandlers(options)).add(ShardQuery, shardQueryHandlers(options));
    this.network.listen(ADDRESS, router);
  }
}
