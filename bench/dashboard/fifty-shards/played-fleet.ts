// Fifty shards in one process, each behind a gRPC server of its own with the certificate of a shard: what the
// synthetic fleet tells a model goes out as the frames that a shard sends. Every decision is one of a real
// engine, in the engine's own encoding. Time is compressed: cycles follow each other as fast as the dashboard
// reads them, and carry the moments at which an hour would have had them.

import { once } from 'node:events';
import { ok } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import type { Fleet } from '@bigfleet/dashboard';
import { SyntheticFleet } from '@bigfleet/dashboard/testing';
import {
  createGate,
  createGrpcServer,
  encodeInit,
  Health,
  HealthRegistry,
  type MachineViewSchema,
  type NeedViewSchema,
  Operator,
  type PenaltyBucket,
  rawStream,
  Router,
  ShardQuery,
  tlsFromFlags,
  WatchFrameSchema,
} from '@bigfleet/wire';
import { answerQuestions, type Answers } from '../../harness/answer-questions.ts';
import type { PemFiles } from '../../shard/order.ts';

export interface PlayedOrder {
  readonly shards: number;
  readonly clusters: number;
  readonly machines: number;
  readonly needsPerShard: number;
  /** By shard, in order. */
  readonly tls: readonly PemFiles[];
  /** Between two cycles of one shard, as the fleet tells it. */
  readonly cycleMs: number;
  /** Of the last cycle: the hour has just passed when all of it was told. */
  readonly endMs: number;
  readonly cycles: number;
}

type ShardFeed = ReturnType<Fleet['shard']>;
type MachineFacts = Parameters<ShardFeed['snapshotPart']>[0][number];
type NeedFacts = Parameters<ShardFeed['snapshotPart']>[1][number];
type ShardFacts = Parameters<ShardFeed['status']>[0];
type Init<S extends Parameters<typeof encodeInit>[0]> = Parameters<typeof encodeInit<S>>[1];
type Frame = NonNullable<Init<typeof WatchFrameSchema>['frame']>;
type MachineInit = Init<typeof MachineViewSchema>;
type NeedInit = Init<typeof NeedViewSchema>;

const NANOS_PER_MS = 1_000_000n;
const REGION_KEY = 'topology.kubernetes.io/region';
const RACK_KEY = 'topology.bigfleet/rack';
const RECORD_FORMAT = 1;
const ROWS_PER_FRAME = 250;
/** Cycles that a shard may be ahead of its reader: a shard's own log keeps 256. */
const MAX_WAITING_FRAMES = 64;

function nanosOf(ms: number): bigint {
  return BigInt(Math.floor(ms)) * NANOS_PER_MS;
}

/** One shard: frames that wait for its one reader, and what it says about itself. */
class PlayedShard {
  readonly name: string;
  #waiting: Uint8Array[] = [];
  /** All frames of the snapshot, for a reader that lost its connection before the first cycle. */
  readonly #snapshot: Uint8Array[] = [];
  readonly #changed = new EventTarget();
  #status: ShardFacts | undefined;
  #streams = 0;
  #epoch = 1n;
  #cycle = 0;
  #lastMs = 0;
  recordCount = 0;
  recordBytes = 0;
  frameBytes = 0;

  constructor(name: string) {
    this.name = name;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** What a model would be told, as frames. */
  readonly feed: ShardFeed = {
    begin: ({ epoch, cycle }) => {
      this.#epoch = epoch;
      const value = { shardId: this.name, shardEpoch: epoch, cycle: BigInt(cycle), resumed: false };
      this.#push({ case: 'hello', value });
    },
    snapshotPart: (machines, needs) => {
      for (let at = 0; at < machines.length; at += ROWS_PER_FRAME) {
        const part = machines.slice(at, at + ROWS_PER_FRAME).map(machineInit);
        this.#push({ case: 'snapshot', value: { machines: part } });
      }
      for (let at = 0; at < needs.length; at += ROWS_PER_FRAME) {
        const part = needs.slice(at, at + ROWS_PER_FRAME).map(needInit);
        this.#push({ case: 'snapshot', value: { needs: part } });
      }
    },
    snapshotEnd: ({ machines, needs }) => {
      this.#push({ case: 'snapshotEnd', value: { machines, needs } });
      return ok(undefined);
    },
    record: ({ epoch, cycle, atMs, payload, actionHash }) => {
      this.#cycle = cycle;
      this.recordCount += 1;
      this.recordBytes += payload.length;
      const value = {
        shardEpoch: epoch,
        cycle: BigInt(cycle),
        atUnixNanos: nanosOf(atMs),
        format: RECORD_FORMAT,
        payload,
        actionHash: Buffer.from(actionHash, 'hex'),
      };
      this.#push({ case: 'record', value });
    },
    cycle: (facts) => {
      this.#cycle = facts.cycle;
      this.#lastMs = facts.atMs;
      const value = {
        cycle: BigInt(facts.cycle),
        atUnixNanos: nanosOf(facts.atMs),
        machinesChanged: facts.machinesChanged.map(machineInit),
        machinesRemoved: [...facts.machinesRemoved],
        needsChanged: facts.needsChanged.map(needInit),
        needsRemoved: facts.needsRemoved.map(({ cluster, fingerprint, group }) => ({
          clusterId: cluster,
          profileFingerprint: fingerprint,
          group,
        })),
        actions: { ...facts.actions },
        shortfalls: facts.shortfalls,
        dollarsPerHour: facts.dollarsPerHour,
      };
      this.#push({ case: 'delta', value });
    },
    status: (facts) => {
      this.#status = facts;
    },
    source: () => {},
  };

  router(): Router {
    const router = new Router({ gate: createGate({ transport: 'mtls' }) });
    const none = async function* (): AsyncGenerator<never, void> {};
    router.add(Health, new HealthRegistry().handlers).add(ShardQuery, {
      getShardStatus: () => Promise.resolve(this.#statusInit()),
      listSessions: () => this.#sessions(),
      watch: rawStream((_, { signal }) => this.#watch(signal)),
      listMachines: none,
      listShortfalls: none,
      listRecords: none,
      listBrakes: none,
      explain: () => Promise.reject(new Error('a played shard explains nothing')),
    });
    return router;
  }

  /** Until the reader has taken enough. */
  async drained(): Promise<void> {
    while (this.#waiting.length > MAX_WAITING_FRAMES) await once(this.#changed, 'taken');
  }

  /** Whoever comes back begins with the snapshot; after the first cycle it would be another one. */
  async *#watch(signal: AbortSignal): AsyncGenerator<Uint8Array, void> {
    if (this.#cycle > 0) throw new Error(`${this.name} lost its reader in the middle of the hour`);
    this.#waiting = [...this.#snapshot];
    const stream = ++this.#streams;
    const wake = (): boolean => this.#changed.dispatchEvent(new Event('pushed'));
    signal.addEventListener('abort', wake, { once: true });
    // A stream whose end is not known here yet must not take the frames of the next.
    while (!signal.aborted && stream === this.#streams) {
      const frame = this.#waiting.shift();
      if (frame === undefined) await once(this.#changed, 'pushed');
      else {
        this.#changed.dispatchEvent(new Event('taken'));
        yield frame;
      }
    }
  }

  async *#sessions(): AsyncGenerator<object, void> {
    for (const session of this.#status?.sessions ?? []) {
      yield {
        clusterId: session.cluster,
        connected: session.isConnected,
        sinceUnixNanos: nanosOf(session.sinceMs),
        lastRollupUnixNanos: nanosOf(session.lastRollupMs),
        presentedIdentity: session.identity,
      };
    }
  }

  #statusInit(): object {
    const { startedMs = 0, sessions = [], providers = [], version = '' } = this.#status ?? {};
    return {
      shardId: this.name,
      shardEpoch: this.#epoch,
      cycle: BigInt(this.#cycle),
      lastCycleUnixNanos: nanosOf(this.#lastMs),
      startedUnixNanos: nanosOf(startedMs),
      ready: true,
      sessions: sessions.length,
      version,
      providers: providers.map(({ name, address, source, isShared, isHealthy, lastListMs }) => ({
        name,
        address,
        source,
        shared: isShared,
        healthy: isHealthy,
        lastListUnixNanos: nanosOf(lastListMs),
      })),
    };
  }

  #push(frame: Frame): void {
    const bytes = encodeInit(WatchFrameSchema, { frame });
    this.frameBytes += bytes.length;
    if (this.#cycle === 0) this.#snapshot.push(bytes);
    else this.#waiting.push(bytes);
    this.#changed.dispatchEvent(new Event('pushed'));
  }
}

function machineInit(facts: MachineFacts): MachineInit {
  return {
    machineId: facts.machine,
    state: facts.state,
    clusterId: facts.cluster,
    provider: facts.provider,
    instanceType: facts.instanceType,
    zone: facts.zone,
    capacityType: facts.capacityType,
    pricePerHour: facts.dollarsPerHour,
    interruptionProbability: facts.interruptionProbability,
    allocatable: { resources: { cpu: '16', memory: '64Gi' } },
    labels: { [REGION_KEY]: facts.region, [RACK_KEY]: facts.rack },
    lastError: facts.lastError,
    nodeName: facts.node,
    assignedPriority: facts.priority,
    interruptionPenaltyBucket: facts.interruptionPenaltyBucket as PenaltyBucket,
    reclamationPenaltyBucket: facts.reclamationPenaltyBucket as PenaltyBucket,
    needFingerprint: facts.need,
    group: facts.group,
    stateSinceUnixNanos: nanosOf(facts.sinceMs),
    pendingAction: facts.pendingAction,
  };
}

/** `key In [a, b]` back into its parts. */
const REQUIREMENT = /^(\S+) \w+(?: \[(.*)\])?$/;

function needInit(facts: NeedFacts): NeedInit {
  return {
    need: {
      requirements: facts.requirements.map((text) => {
        const [, key = text, values = ''] = REQUIREMENT.exec(text) ?? [];
        return { key, operator: Operator.IN, values: values.split(', ') };
      }),
      aggregateResources: { ...facts.resources },
      priority: facts.priority,
      interruptionPenaltyBucket: facts.interruptionPenaltyBucket as PenaltyBucket,
      reclamationPenaltyBucket: facts.reclamationPenaltyBucket as PenaltyBucket,
      minUnit: { cpu: '1' },
      group: facts.group,
    },
    clusterId: facts.cluster,
    profileFingerprint: facts.fingerprint,
    satisfied: facts.isSatisfied,
    residualDeficit: { resources: { ...facts.deficit } },
    claimedMachineCount: facts.claimed,
    sameDomain: facts.domain,
    acquisitionParked: facts.isParked,
    ageCyclesUnmet: facts.ageCyclesUnmet,
    matchingSupply: { ...facts.matching },
    reasonCode: facts.reason,
    escalated: facts.isEscalated,
    awaitingDrainCount: facts.awaitingDrain,
  };
}

async function listen(shard: PlayedShard, files: PemFiles | undefined): Promise<string> {
  const tls = tlsFromFlags({ cert: '', key: '', ca: '', ...files, requireTls: true });
  if (tls === 'plaintext') throw new Error('a shard is mTLS');
  const server = createGrpcServer({
    runtime: realRuntime(),
    router: shard.router(),
    listen: ['127.0.0.1:0'],
    keepalive: 'session',
    tls,
  });
  const [address = ''] = await server.bind();
  return address;
}

async function play(order: PlayedOrder): Promise<Answers> {
  const synthetic = new SyntheticFleet(order);
  const shards = new Map<string, PlayedShard>();
  const startMs = order.endMs - order.cycles * order.cycleMs;
  const target: Pick<Fleet, 'shard'> = {
    shard: (name) => {
      const shard = shards.get(name) ?? new PlayedShard(name);
      shards.set(name, shard);
      return shard.feed;
    },
  };
  synthetic.begin(target, startMs);
  const played = [...shards.values()];
  const addresses = await Promise.all(played.map((shard, at) => listen(shard, order.tls[at])));
  const sum = (of: (shard: PlayedShard) => number): number =>
    played.reduce((total, shard) => total + of(shard), 0);
  let cycle = 0;
  return {
    addresses: () => played.map(({ name }, at) => `${name}=${addresses[at]}`),
    shardCount: () => synthetic.shardCount,
    /** One cycle of every shard, taken by its reader up to a few frames. */
    cycle: async () => {
      cycle += 1;
      for (const [at, shard] of played.entries()) {
        synthetic.stepOne(at, startMs + cycle * order.cycleMs);
        await shard.drained();
      }
      return cycle;
    },
    waitingCount: () => sum(({ waitingCount }) => waitingCount),
    recordCount: () => sum(({ recordCount }) => recordCount),
    recordBytes: () => sum(({ recordBytes }) => recordBytes),
    frameBytes: () => sum(({ frameBytes }) => frameBytes),
  };
}

if (process.argv[1] === import.meta.filename) {
  answerQuestions(play(JSON.parse(process.argv[2] ?? '') as PlayedOrder));
}
