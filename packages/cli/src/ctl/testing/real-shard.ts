// Two real shards under virtual time on the in-memory network, with a registry that names them: what
// shard verbs print is checked against the shard that ships, and the same seed prints the same.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { compareText, createVirtualRuntime, type VirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { CapacityType } from '@bigfleet/engine';
import {
  createInlineHost,
  type DurableFile,
  LIBRARY_SETTINGS,
  noAuditLog,
  ProviderSet,
  ProviderSource,
  type RunningShard,
  type SegmentFile,
  type SegmentFiles,
  serveReading,
  startShard,
} from '@bigfleet/shard';
import { FakeProvider, InProcessProvider } from '@bigfleet/shard/testing';
import { captureSink, createLogger, createRegistry } from '@bigfleet/telemetry';
import {
  type Channel,
  type Client,
  type ClusterCapacityNeedsSchema,
  Coordinator,
  CoordinatorAdmin,
  createClient,
  type encodeInit,
  openGate,
  Operator,
  PenaltyBucket,
  Router,
  RpcError,
  Shard,
  TokenSource,
} from '@bigfleet/wire';
import { createMemoryNetwork, type MemoryNetwork, perfectLink } from '@bigfleet/wire/memory';
import type { Network } from '../connect/network.ts';
import { type RunResult, runCtl } from './run-ctl.ts';

const ONE_MS = { minMs: 1, maxMs: 1, tailProbability: 0, tailMs: 1 };
const STEP_MS = 25;
const COORDINATOR = 'coordinator:7790';

export interface ShardTraits {
  readonly hasConfigureBrake?: boolean;
  /** Why no node of the shard's provider ever joins. */
  readonly joinFailure?: string;
  /** A shard that starts again has a higher one. */
  readonly epoch?: bigint;
}

export class RealShards {
  readonly time: VirtualRuntime = createVirtualRuntime({ seed: 'ctl', drain: drainMicrotasks });
  readonly memory: MemoryNetwork = createMemoryNetwork({
    runtime: this.time.runtime,
    faults: { profile: { ...perfectLink, latency: ONE_MS }, events: [] },
  });
  readonly #shards = new Map<string, RunningShard>();
  readonly #fakes: FakeProvider[] = [];
  readonly #operators = new Map<string, DemandingOperator>();
  readonly #records = new Map<string, SegmentFiles>();
  readonly registered: { shardId: string; address: string }[] = [];
  readonly forgotten: string[] = [];
  /** What a leader would tell; empty is one that does not know the field. */
  readonly pendingInstructions: Record<string, number> = {};

  readonly network: Network = {
    connect: ({ target }) => this.memory.connect({ from: 'admin', to: target }),
    addressesOf: async (host) => [host],
    certificateExpiry: async () => undefined,
  };

  /** Serves a registry of the shards, those that are down included. */
  startCoordinator(bindings: readonly { clusterId: string; shardId: string }[]): void {
    const refuse = async (): Promise<never> => {
      throw new RpcError('INTERNAL', 'not in this test');
    };
    const entries = () => ({
      shards: this.registered.map((entry) => ({
        ...entry,
        registeredAtUnixNs: 1_767_225_600_000_000_000n,
        lastHeartbeatUnixNs: this.time.runtime.clock.unixNanos() - 3_000_000_000n,
      })),
    });
    const router = new Router({ gate: openGate });
    router.add(Coordinator, {
      reportShard: refuse,
      joinRaftCluster: refuse,
      assignDomain: refuse,
      unassignDomain: refuse,
      removeShard: refuse,
      listShards: async () => entries(),
      listDomainAssignments: async () => ({}),
      listQuotas: async () => ({}),
      listProviders: async () => ({}),
      listShardReports: async () => ({}),
      snapshotSave: async function* () {
        yield await refuse();
      },
    });
    router.add(CoordinatorAdmin, {
      setQuota: refuse,
      registerProvider: refuse,
      deregisterProvider: refuse,
      bindCluster: refuse,
      unbindCluster: async ({ clusterId }) => {
        this.forgotten.push(clusterId);
        return {};
      },
      listClusterBindings: async () => ({ bindings: [...bindings] }),
      listTransfers: async () => ({}),
      getStatus: async () => ({
        nodeId: 'node-1',
        isLeader: true,
        leaderNodeId: 'node-1',
        coordinatorTerm: 7n,
        version: '0.1.0',
        replicas: ['node-1'],
        pendingInstructions: { ...this.pendingInstructions },
      }),
    });
    this.memory.listen(COORDINATOR, router);
  }

  async startShard(
    shardId: string,
    idleCount: number,
    { hasConfigureBrake = false, joinFailure, epoch = 4n }: ShardTraits = {},
  ): Promise<void> {
    const { runtime } = this.time;
    const fake = new FakeProvider({ runtime, latencyMs: 500 });
    for (let at = 0; at < idleCount; at++) fake.addIdle(machineSpec(`${shardId}-m${at}`));
    if (joinFailure !== undefined) fake.failJoins(() => joinFailure);
    const address = `${shardId}:7780`;
    if (!this.registered.some((entry) => entry.shardId === shardId)) {
      this.registered.push({ shardId, address });
    }
    const tokens = new TokenSource(shardId, epoch);
    const provider = new InProcessProvider({ runtime, fake, tokens });
    const starting = startShard({
      runtime,
      logger: createLogger({ clock: runtime.clock, sink: captureSink() }),
      registry: createRegistry(),
      shardId,
      epoch,
      host: createInlineHost(runtime, { hasTrace: true }),
      providers: new ProviderSet([new ProviderSource({ name: 'lab', provider })]),
      storage: {
        rails: memoryFile(),
        records: this.#recordsOf(shardId),
        audit: noAuditLog,
      },
      transport: {
        mode: 'plaintext',
        listen: async (router) => {
          const server = this.memory.listen(address, router);
          return { address, stop: () => server.stop(2_000) };
        },
      },
      settings: {
        ...LIBRARY_SETTINGS,
        executeConcurrency: 8,
        recordsMaxBytes: 1e6,
        hasConfigureBrake,
      },
      extend: serveReading({
        version: '0.1.0',
        providerFacts: () => ({ address: '10.0.0.7:9000', source: 'flag', shared: false }),
      }),
    });
    await this.time.runFor(0);
    this.#shards.set(shardId, await starting);
    this.#fakes.push(fake);
  }

  /** An operator that wants so many cores and joins what it is given. */
  async connect(cluster: string, shardId: string, cores: number, priority: number): Promise<void> {
    const channel = this.memory.connect({ from: cluster, to: `${shardId}:7780` });
    this.#operators.set(cluster, new DemandingOperator(channel, cluster, cores, priority));
    await this.time.runFor(STEP_MS);
  }

  /** The operator of the cluster says that Nodes of these machines do not serve. */
  async reportPhantoms(cluster: string, machineIds: readonly string[]): Promise<void> {
    this.#operators.get(cluster)?.reportPhantoms(machineIds);
    await this.time.runFor(STEP_MS);
  }

  /** Runs time on until the command is done. */
  async run(argv: readonly string[]): Promise<RunResult> {
    const { runtime } = this.time;
    const running = runCtl([`--coordinator=${COORDINATOR}`, ...argv], {
      runtime,
      network: this.network,
    });
    let isDone = false;
    const done = running.finally(() => (isDone = true));
    for (let steps = 0; !isDone && steps < 4_000; steps++) await this.time.runFor(STEP_MS);
    assert.ok(isDone, `no answer to ${argv.join(' ')}`);
    return done;
  }

  /** What a shard recorded, as the directory that it would have written. After `stop`. */
  async writeRecords(shardId: string, folder: string): Promise<void> {
    const files = this.#recordsOf(shardId);
    for (const { name } of await files.list()) {
      writeFileSync(path.join(folder, name), await files.read(name));
    }
  }

  /** In memory: a disk takes real time, and virtual time does not wait for it. */
  #recordsOf(shardId: string): SegmentFiles {
    const files = this.#records.get(shardId) ?? memorySegments();
    this.#records.set(shardId, files);
    return files;
  }

  async stopShard(shardId: string): Promise<void> {
    const stopped = this.#shards.get(shardId)?.stop();
    this.#shards.delete(shardId);
    await this.time.runFor(60_000);
    await stopped;
  }

  async stop(): Promise<void> {
    const stopped = Promise.all([...this.#shards.values()].map((shard) => shard.stop()));
    await this.time.runFor(60_000);
    await stopped;
    for (const fake of this.#fakes) fake.close();
    this.memory.close();
  }
}

type Frames = Parameters<Client<typeof Shard>['session']>[0];
type Frame = Frames extends AsyncIterable<infer Each> ? Each : never;
type Rollup = Parameters<typeof encodeInit<typeof ClusterCapacityNeedsSchema>>[1];

class DemandingOperator {
  readonly #wake: (() => void)[] = [];
  readonly #outgoing: Frame[] = [];

  constructor(channel: Channel, cluster: string, cores: number, priority: number) {
    const hello = { clusterId: cluster, protocolVersion: 'v1alpha1', extensions: [] };
    this.#outgoing.push({ payload: { case: 'hello', value: hello } });
    this.#outgoing.push({ payload: { case: 'rollup', value: demandOf(cluster, cores, priority) } });
    this.#read(channel).catch(() => undefined);
  }

  reportPhantoms(machineIds: readonly string[]): void {
    const value = { phantomMachineIds: [...machineIds] };
    this.#outgoing.push({ payload: { case: 'nodeIdentity', value } });
    this.#wake.shift()?.();
  }

  async #read(channel: Channel): Promise<void> {
    for await (const { payload } of createClient(Shard, channel).session(this.#write())) {
      if (payload.case !== 'bootstrapRequest') continue;
      const value = {
        requestId: payload.value.requestId,
        userData: Uint8Array.of(7),
        ttlSeconds: 600n,
      };
      this.#outgoing.push({ payload: { case: 'bootstrapResponse', value } });
      this.#wake.shift()?.();
    }
  }

  async *#write(): AsyncGenerator<Frame> {
    for (;;) {
      const frame = this.#outgoing.shift();
      if (frame !== undefined) yield frame;
      else await new Promise<void>((resolve) => this.#wake.push(resolve));
    }
  }
}

function demandOf(
  clusterId: string,
  cores: number,
  priority: number,
): Rollup & { $typeName?: never } {
  return {
    clusterId,
    timestampUnixNanos: 1_767_225_600_000_000_000n,
    needs: [
      {
        requirements: [{ key: 'pool', operator: Operator.IN, values: ['general'] }],
        aggregateResources: { cpu: String(cores) },
        minUnit: { cpu: '1' },
        priority,
        interruptionPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
        reclamationPenaltyBucket: PenaltyBucket.PENALTY_BUCKET_ZERO,
      },
    ],
  };
}

function machineSpec(id: string): Parameters<FakeProvider['addIdle']>[0] {
  return {
    id,
    instanceType: 'm6i.large',
    zone: 'zone-a',
    capacityType: CapacityType.OnDemand,
    pricePerHour: 0.2,
    interruptionProbability: 0,
    resources: new Map([['cpu', '4']]),
    allocatable: new Map([['cpu', '4']]),
    labels: new Map([['pool', 'general']]),
  };
}

function memoryFile(): DurableFile {
  let content: string | undefined;
  return {
    path: 'rails.json',
    read: async () => content,
    replace: async (text) => {
      content = text;
    },
  };
}

function memorySegments(): SegmentFiles {
  const files = new Map<string, Uint8Array[]>();
  const whole = (name: string): Buffer => Buffer.concat(files.get(name) ?? []);
  return {
    list: async () =>
      [...files.keys()].sort(compareText).map((name) => ({
        name,
        kind: name.endsWith('.trace') ? 'trace' : 'records',
        bytes: whole(name).length,
      })),
    create: async (name): Promise<SegmentFile> => {
      const parts: Uint8Array[] = [];
      files.set(name, parts);
      return { append: async (bytes) => void parts.push(bytes.slice()), close: async () => {} };
    },
    read: async (name, bytes) =>
      bytes === undefined ? whole(name) : whole(name).subarray(0, bytes),
    remove: async (name) => void files.delete(name),
  };
}
