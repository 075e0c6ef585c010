// A fleet of any size from a seed, for browser tests, benches and development. Every shard has a corner that
// a real engine runs (its own pods, provider and records, as in the simulator), and a bulk of machines and
// needs that only stand there: prices move and nodes join, nothing is decided about them. So every decision
// is a real one, and half a million machines cost seconds and not a data centre.

import { createRandom, err, type Random } from '@bigfleet/base';
import {
  type CapacityTypeCode,
  CapacityType,
  deployedRails,
  State,
  type StateCode,
} from '@bigfleet/engine';
import {
  ClosedLoop,
  type ClusterPlan,
  IncrementalEngine,
  type LoopPlan,
  RACK_KEY,
  realistic,
  type Shape,
  shapeOf,
} from '@bigfleet/sim';
import type {
  Annotations,
  ConformanceFacts,
  Fleet,
  MachineFacts,
  NeedFacts,
  Outside,
  PhaseFacts,
  ShardFacts,
  ShardFeed,
} from '../facts.ts';
import { StepFeeder } from '../simulated/step-feeder.ts';

export interface SyntheticOptions {
  readonly seed?: string;
  readonly shards: number;
  /** Over all shards; at least one per shard. */
  readonly clusters: number;
  /** Over all shards. */
  readonly machines: number;
  readonly needsPerShard: number;
  /** Share of the bulk whose rows change in a cycle. */
  readonly churn?: number;
}

/** Small enough for a screenshot, large enough for every page to have something to say. */
export const SMALL: SyntheticOptions = {
  shards: 2,
  clusters: 6,
  machines: 1_200,
  needsPerShard: 60,
};

/** The ceiling (dashboard §1). */
export const CEILING: SyntheticOptions = {
  shards: 200,
  clusters: 1_000,
  machines: 500_000,
  needsPerShard: 250,
  churn: 0.0005,
};

const CORNER_CLUSTERS = 3;
const SNAPSHOT_ROWS = 1_000;

/** What no shard is there to answer: the model explains from the records that it keeps. */
export const nobodyOutside: Outside = {
  explain: () => Promise.resolve(absent('source_absent', 'a synthetic fleet has no shard to ask')),
  record: () => Promise.resolve(absent('record_not_found', 'the record is not kept any more')),
  whatIf: () => Promise.resolve(absent('source_absent', 'what-if needs records: --records-dir')),
  needOfPod: () => Promise.resolve(absent('source_absent', 'Pods need a cluster: --kubeconfig')),
};

function absent(
  code: string,
  message: string,
): ReturnType<typeof err<{ code: string; message: string }>> {
  return err({ code, message });
}

/** As the flags --team and --conformance would say it; some clusters and a provider are left out. */
export const syntheticAnnotations: Annotations = {
  teams: [
    { team: 'Search and ads', pattern: 'search-*' },
    { team: 'Search and ads', pattern: 'ads-*' },
    { team: 'Checkout', pattern: 'checkout-*' },
    { team: 'ML platform', pattern: 'ml-*' },
  ],
  conformance: new Map([
    ['aws', conformanceOf('CERTIFIED', ['core', 'cloud', 'spot'], 0)],
    ['gcp', conformanceOf('FAILED', ['core', 'durable'], 2)],
  ]),
};

function conformanceOf(
  verdict: 'CERTIFIED' | 'FAILED',
  profiles: string[],
  failed: number,
): ConformanceFacts {
  return {
    verdict,
    profiles,
    certifiedProfiles: verdict === 'CERTIFIED' ? profiles : [],
    behaviours: 93,
    passed: 69 - failed,
    failed,
    skipped: 0,
    notRun: 24,
    requiredFailed: failed,
    requiredMissing: 0,
    atMs: Date.UTC(2026, 0, 2, 3, 4, 5),
    subject: 'certify',
  };
}

/** A model of the fleet, or whoever plays the shards alone. */
type Told = Pick<Fleet, 'shard'> & Partial<Pick<Fleet, 'source' | 'coordinator'>>;

export class SyntheticFleet {
  readonly #shards: SyntheticShard[];
  #fleet: Told | undefined;
  /** Since when the last shard leaves an instruction without an answer. */
  #beganMs = 0;

  constructor(options: SyntheticOptions) {
    const random = createRandom(options.seed ?? 'synthetic');
    const share = (total: number, at: number): number =>
      Math.floor((total * (at + 1)) / options.shards) - Math.floor((total * at) / options.shards);
    let firstCluster = 0;
    this.#shards = Array.from({ length: options.shards }, (_, at) => {
      const count = Math.max(1, share(options.clusters, at));
      const clusters = Array.from({ length: count }, (_unused, place) =>
        clusterName(firstCluster + place),
      );
      firstCluster += count;
      return new SyntheticShard({
        name: `shard-${String(at).padStart(3, '0')}`,
        clusters,
        machines: share(options.machines, at),
        needs: options.needsPerShard,
        churn: options.churn ?? 0.002,
        random: random.stream(`shard ${at}`),
      });
    });
  }

  /** Tells the whole fleet as it stands. */
  begin(fleet: Told, atMs: number): void {
    this.#fleet = fleet;
    this.#beganMs = atMs;
    for (const shard of this.#shards) shard.begin(fleet, atMs);
    this.#tellCoordinator(atMs);
  }

  /** One cycle of every shard. */
  step(atMs: number): void {
    for (const shard of this.#shards) shard.step(atMs);
    this.#tellCoordinator(atMs);
  }

  /** One cycle of one shard, in turn: a steady stream of small changes. */
  stepOne(at: number, atMs: number): void {
    this.#shards[at % this.#shards.length]?.step(atMs);
    if (at % this.#shards.length === 0) this.#tellCoordinator(atMs);
  }

  get shardCount(): number {
    return this.#shards.length;
  }

  /** A leader with a registry; its last shard has fallen silent with instructions on the way. */
  #tellCoordinator(atMs: number): void {
    const last = this.#shards.length - 1;
    this.#fleet?.source?.({
      kind: 'coordinator',
      name: 'coordinator.bigfleet:7790',
      state: 'live',
      sinceMs: this.#beganMs,
      dataMs: atMs,
      problem: '',
      flag: '--coordinator',
    });
    this.#fleet?.coordinator?.({
      status: {
        node: 'coordinator-1',
        isLeader: true,
        leader: 'coordinator-1',
        leaderAddress: 'coordinator-1.bigfleet:7790',
        term: '7',
        applyIndex: '48213',
        engine: 'etcd',
        replicas: ['coordinator-0', 'coordinator-1', 'coordinator-2'],
        recoveringProviders: [],
        version: '0.1.0',
      },
      bindings: this.#shards.flatMap(({ name, clusters }) =>
        clusters.map((cluster) => ({ cluster, shard: name, conflict: '' })),
      ),
      transfers: [
        {
          id: 't-0000000000000007-00000012',
          from: this.#shards[0]?.name ?? '',
          to: this.#shards[last]?.name ?? '',
          phase: 'preparing',
          machines: 3,
          reason: 'shortfall_critical',
          createdMs: this.#beganMs - 1_200_000,
          updatedMs: this.#beganMs - 1_140_000,
        },
      ],
      queue: this.#shards.map(({ name }, at) => {
        const isStuck = at === last && last > 0;
        return {
          shard: name,
          pending: isStuck ? 3 : 0,
          pendingSinceMs: isStuck ? this.#beganMs - 1_200_000 : null,
          reportMs: isStuck ? this.#beganMs - 1_100_000 : atMs,
        };
      }),
    });
  }
}

interface SyntheticShardOptions {
  readonly name: string;
  readonly clusters: readonly string[];
  readonly machines: number;
  readonly needs: number;
  readonly churn: number;
  readonly random: Random;
}

class SyntheticShard {
  readonly #options: SyntheticShardOptions;
  readonly #engine = new IncrementalEngine();
  readonly #loop: ClosedLoop;
  readonly #bulk: Bulk;
  readonly #phases: readonly PhaseFacts[];
  #feed: ShardFeed | undefined;
  #feeder: StepFeeder | undefined;

  constructor(options: SyntheticShardOptions) {
    this.#options = options;
    const plan = cornerPlan(options);
    const seed = BigInt(options.random.stream('corner').uint32());
    this.#loop = new ClosedLoop(plan, { decide: this.#engine.decide, seed, hasLog: false });
    this.#bulk = new Bulk(options, Math.max(0, options.machines - this.#loop.provider.size));
    this.#phases = phasesOf(options.random.stream('phases'));
  }

  get name(): string {
    return this.#options.name;
  }

  get clusters(): readonly string[] {
    return this.#options.clusters;
  }

  begin(fleet: Pick<Fleet, 'shard'>, atMs: number): void {
    const { name } = this.#options;
    const target = fleet.shard(name, `${name}.bigfleet:7780`);
    const bulk = this.#bulk;
    const rows = { machines: 0, needs: 0 };
    // The corner begins its own snapshot; the bulk is told before its end.
    const feed: ShardFeed = {
      begin: (hello) => {
        target.begin(hello);
        for (const part of bulk.machineParts(atMs)) {
          target.snapshotPart(part, []);
          rows.machines += part.length;
        }
        const needs = bulk.needFacts();
        target.snapshotPart([], needs);
        rows.needs += needs.length;
      },
      snapshotPart: (machines, needs) => target.snapshotPart(machines, needs),
      snapshotEnd: ({ machines, needs, atMs: endMs }) =>
        target.snapshotEnd({
          machines: machines + rows.machines,
          needs: needs + rows.needs,
          atMs: endMs,
        }),
      record: (facts) => target.record(facts),
      status: (facts) => target.status(facts),
      source: (state, problem) => target.source(state, problem),
      cycle: (facts) => {
        const changed = bulk.churn(facts.atMs);
        const machinesChanged = [...facts.machinesChanged, ...changed];
        target.cycle({ ...facts, machinesChanged });
      },
    };
    this.#feed = feed;
    this.#feeder = new StepFeeder({ feed, epoch: 1n, rackKey: RACK_KEY });
    this.#feeder.begin(this.#loop.provider.list(), atMs);
    feed.status(this.#status(atMs));
  }

  step(atMs: number): void {
    const { random } = this.#options;
    this.#disturb(random);
    this.#loop.runCycle();
    const step = this.#loop.lastStep;
    if (step === undefined || this.#feeder === undefined) return;
    this.#feeder.step({
      cycle: step.cycle + 1,
      atMs,
      machines: this.#loop.provider.list(),
      output: step.output,
      railed: step.railed,
      rails: deployedRails,
      record: this.#engine.record,
      actionHash: this.#engine.actionHash,
    });
    this.#feed?.status(this.#status(atMs));
  }

  /** Workloads grow and shrink, and now and then a host dies. */
  #disturb(random: Random): void {
    if (random.below(3) === 0) {
      const cluster = this.#loop.clusters[random.below(this.#loop.clusters.length)];
      const shape = SHAPES[random.below(SHAPES.length)];
      if (shape !== undefined) cluster?.scale(shape.name, replicasOf(shape, random));
    }
    if (random.below(40) !== 0) return;
    const victim = this.#loop.provider.list().find(({ state }) => state === State.Configured);
    if (victim !== undefined) this.#loop.provider.failMachine(victim.id);
  }

  #status(atMs: number): ShardFacts {
    const { clusters } = this.#options;
    const phantoms = this.#bulk.phantoms();
    return {
      epoch: 1n,
      startedMs: atMs - 3_600_000,
      isReady: true,
      isPaused: false,
      isDryRun: false,
      rails: [],
      version: '0.1.0',
      providers: PROVIDERS.map((name) => ({
        name,
        address: `${name}:7790`,
        source: 'flags',
        isShared: true,
        isHealthy: true,
        lastListMs: atMs,
      })),
      sessions: clusters.map((cluster) => ({
        cluster,
        isConnected: true,
        sinceMs: atMs - 3_600_000,
        lastRollupMs: atMs,
        quarantinedRollups: 0,
        identity: `spiffe://bigfleet/operator/${cluster}`,
        tellsNodes: true,
        phantoms: phantoms.get(cluster) ?? [],
      })),
      brakes: [],
      phases: this.#phases,
    };
  }
}

const shapeNamed = (name: string): Shape => {
  const archetype = realistic.archetypes.find((found) => found.name === name);
  if (archetype === undefined) throw new Error(`the realistic catalogue has no ${name}`);
  const shape = shapeOf(archetype);
  return { ...shape, instanceTypes: shape.instanceTypes.slice(0, 1) };
};

const SHAPES: readonly Shape[] = [
  shapeNamed('tiny-stateless'),
  shapeNamed('cpu-service'),
  shapeNamed('critical-realtime'),
  shapeNamed('gpu-training-small'),
];
const PODS_PER_MACHINE = 10;

function replicasOf(shape: Shape, random: Random): number {
  return shape.same === undefined ? 10 * (1 + random.below(5)) : random.below(5);
}

/** A few clusters on owned, reserved, on-demand and spot machines, scarce enough that priorities matter. */
function cornerPlan({ name, clusters, random }: SyntheticShardOptions): LoopPlan {
  const draws = random.stream('plan');
  const plans: ClusterPlan[] = clusters.slice(0, CORNER_CLUSTERS).map((id) => ({
    id,
    workloads: SHAPES.map((shape) => ({
      shape,
      objects: 1,
      replicas: replicasOf(shape, draws),
    })),
  }));
  return {
    name,
    clusters: plans,
    provisionDwellCycles: 3,
    bootstrapDwellCycles: 2,
    drainDwellCycles: 2,
    deleteDwellCycles: 1,
    rails: deployedRails,
    releasePolicy: { onDemandHoldMs: 100_000, spotHoldMs: 40_000 },
    seeds: SHAPES.map((shape) => ({
      shape: { ...shape, name: `${name}-${shape.name}` },
      density: shape.same === undefined ? PODS_PER_MACHINE : 1,
      contiguousRackBlock: 4,
      idle: [{ count: 2 }, { count: 2, capacityType: CapacityType.Reserved, pricePerHour: 0.55 }],
      speculative: [
        { count: 5, pricePerHour: 1.1 },
        {
          count: 5,
          capacityType: CapacityType.Spot,
          pricePerHour: 0.33,
          interruptionProbability: 0.01,
        },
      ],
    })),
  };
}

const PROVIDERS: readonly string[] = ['fake', 'aws', 'gcp'];
const REGIONS: readonly string[] = ['eu-west', 'eu-north', 'us-east', 'ap-south'];
const TYPES: readonly (readonly [string, number])[] = [
  ['m6i.large', 0.096],
  ['m6i.xlarge', 0.192],
  ['m6i.2xlarge', 0.384],
  ['c6i.4xlarge', 0.68],
  ['c6i.8xlarge', 1.36],
  ['r6i.xlarge', 0.252],
  ['r6i.4xlarge', 1.008],
  ['n2-standard-32', 1.55],
  ['a2-highgpu-8g', 29.39],
  ['a3-highgpu-8g', 88.49],
];
const BUCKETS: readonly number[] = [1, 2, 5, 8, 12, 16, 27];
const PRIORITIES: readonly number[] = [100, 100, 1_000, 1_000, 1_000_000];

/** Machines and needs that only stand there; what is random about one follows from its number alone. */
class Bulk {
  readonly #options: SyntheticShardOptions;
  readonly #states: Uint8Array;
  readonly #prices: Uint8Array;
  readonly #since: Float64Array;
  readonly #draws: Uint32Array;
  readonly #random: Random;
  readonly #phantomSlots: readonly number[];
  #touched = 0;

  constructor(options: SyntheticShardOptions, count: number) {
    this.#options = options;
    this.#random = options.random.stream('bulk');
    this.#draws = Uint32Array.from({ length: count }, () => this.#random.uint32());
    this.#states = Uint8Array.from({ length: count }, (_, at) => firstState(this.#draws[at] ?? 0));
    this.#prices = new Uint8Array(count);
    this.#since = new Float64Array(count);
    this.#phantomSlots = [...this.#draws.keys()].filter(
      (at) => (this.#draws[at] ?? 0) % PHANTOM_EVERY === 0,
    );
  }

  /** Machines whose nodes are not ready, by cluster, sorted. */
  phantoms(): ReadonlyMap<string, readonly string[]> {
    const byCluster = new Map<string, string[]>();
    for (const at of this.#phantomSlots) {
      if (this.#states[at] !== State.Configured) continue;
      const { cluster, machine } = this.#facts(at);
      const known = byCluster.get(cluster);
      if (known === undefined) byCluster.set(cluster, [machine]);
      else known.push(machine);
    }
    return byCluster;
  }

  *machineParts(atMs: number): Generator<MachineFacts[]> {
    const count = this.#states.length;
    for (let at = 0; at < count; at++) {
      this.#since[at] = atMs - ((this.#draws[at] ?? 0) % 86_400) * 1_000;
    }
    for (let start = 0; start < count; start += SNAPSHOT_ROWS) {
      const end = Math.min(count, start + SNAPSHOT_ROWS);
      yield Array.from({ length: end - start }, (_, place) => this.#facts(start + place));
    }
  }

  needFacts(): NeedFacts[] {
    const { clusters, needs } = this.#options;
    return Array.from({ length: needs }, (_, at) =>
      bulkNeed(at, clusters[at % clusters.length] ?? ''),
    );
  }

  /** Rows one after another, so that churn touches all of them in time. */
  churn(atMs: number): MachineFacts[] {
    const count = this.#states.length;
    const wanted = Math.min(count, Math.ceil(count * this.#options.churn));
    return Array.from({ length: wanted }, () => {
      this.#touched = (this.#touched + 7_919) % count;
      const at = this.#touched;
      const next = NEXT_STATE[this.#states[at] ?? 0] ?? 0;
      if (next !== 0) {
        this.#states[at] = next;
        this.#since[at] = atMs;
      } else this.#prices[at] = this.#random.below(20);
      return this.#facts(at);
    });
  }

  #facts(at: number): MachineFacts {
    const { name, clusters } = this.#options;
    const draw = this.#draws[at] ?? 0;
    const state = (this.#states[at] ?? State.Idle) as StateCode;
    const [instanceType, base] = TYPES[draw % TYPES.length] ?? ['m6i.large', 0.096];
    const capacityType = capacityOf(draw);
    const region = REGIONS[(draw >>> 4) % REGIONS.length] ?? '';
    const zone = `${region}-${'abc'[(draw >>> 6) % 3]}`;
    const isBound = state >= State.Configuring && state <= State.Draining;
    const isSpot = capacityType === CapacityType.Spot;
    const price = base * PRICE_FACTORS[capacityType] * (1 + (this.#prices[at] ?? 0) / 100);
    const id = `${name}-m-${String(at).padStart(6, '0')}`;
    const priority = isBound ? (PRIORITIES[(draw >>> 8) % PRIORITIES.length] ?? 0) : 0;
    const cluster = isBound ? (clusters[(draw >>> 12) % clusters.length] ?? '') : '';
    return {
      machine: id,
      state,
      cluster,
      provider: PROVIDERS[1 + ((draw >>> 3) % 2)] ?? '',
      instanceType,
      region,
      zone,
      rack: `${zone}-r${(draw >>> 16) % 8}`,
      capacityType,
      dollarsPerHour: Number(price.toFixed(4)),
      interruptionProbability: isSpot ? (SPOT_RISKS[(draw >>> 10) % SPOT_RISKS.length] ?? 0) : 0,
      priority,
      interruptionPenaltyBucket: isBound ? (BUCKETS[(draw >>> 14) % BUCKETS.length] ?? 1) : 1,
      reclamationPenaltyBucket: 1,
      node: state === State.Configured ? `node-${id}` : '',
      sinceMs: this.#since[at] ?? 0,
      pendingAction: '',
      lastError: state === State.Failed ? 'host lost: no sign of it in two complete describes' : '',
      need: isBound ? bulkFingerprint((draw >>> 18) % 40, priority) : '',
      group: '',
    };
  }
}

const PHANTOM_EVERY = 251;

/** Of a cycle: name, and the median of a middling shard in milliseconds. */
const PHASES: readonly (readonly [phase: string, p50Ms: number])[] = [
  ['reconcile', 9],
  ['snapread', 6],
  ['phase1', 31],
  ['phase2', 12],
  ['phase3', 4],
  ['emit', 0.6],
  ['execute', 0.2],
];

/** Shards differ, and one in four waits for its provider now and then. */
function phasesOf(random: Random): readonly PhaseFacts[] {
  const size = 1 + random.below(200) / 100;
  const isSlow = random.below(4) === 0;
  const parts = PHASES.map(([phase, base]) => {
    const p50Ms = base * size * (0.8 + random.below(40) / 100);
    const p99Ms = p50Ms * (phase === 'reconcile' && isSlow ? 90 : 2.5 + random.below(100) / 100);
    return { phase, p50Ms, p99Ms, maxMs: p99Ms * 1.4, cycles: 256 };
  });
  const sum = (of: (part: PhaseFacts) => number): number =>
    parts.reduce((total, part) => total + of(part), 0);
  const whole = { p50Ms: sum((part) => part.p50Ms), p99Ms: 0.8 * sum((part) => part.p99Ms) };
  return [...parts, { phase: 'cycle', ...whole, maxMs: 1.4 * whole.p99Ms, cycles: 256 }];
}

const SPOT_RISKS: readonly number[] = [0.00004, 0.0001, 0.0002, 0.0005];
const PRICE_FACTORS: Readonly<Record<CapacityTypeCode, number>> = { 1: 0.4, 2: 0.6, 3: 1, 4: 0.35 };
/** Transitional states end; stable ones stay, and only their price moves. */
const NEXT_STATE: Readonly<Record<number, StateCode>> = {
  [State.Creating]: State.Idle,
  [State.Configuring]: State.Configured,
  [State.Draining]: State.Idle,
  [State.Deleting]: State.Speculative,
  [State.Idle]: State.Configuring,
};

function firstState(draw: number): StateCode {
  const share = (draw >>> 7) % 1_000;
  if (share < 250) return State.Speculative;
  if (share < 255) return State.Creating;
  if (share < 285) return State.Idle;
  if (share < 295) return State.Configuring;
  if (share < 985) return State.Configured;
  if (share < 992) return State.Draining;
  return share < 995 ? State.Deleting : State.Failed;
}

function capacityOf(draw: number): CapacityTypeCode {
  const share = (draw >>> 20) % 100;
  if (share < 10) return CapacityType.BareMetal;
  if (share < 35) return CapacityType.Reserved;
  return share < 75 ? CapacityType.OnDemand : CapacityType.Spot;
}

const UNMET: readonly string[] = ['priority_starved', 'no_matching_supply', 'quota_exhausted'];

function bulkFingerprint(kind: number, priority: number): string {
  return `bulk-${kind}-p${priority}`;
}

function bulkNeed(at: number, cluster: string): NeedFacts {
  const priority = PRIORITIES[at % PRIORITIES.length] ?? 0;
  // Of batch work one in twelve is short, of services one in two hundred.
  const isShort = priority < 1_000 ? at % 12 === 0 : at % 200 === 3;
  const [instanceType] = TYPES[at % TYPES.length] ?? ['m6i.large'];
  return {
    cluster,
    fingerprint: bulkFingerprint(at, priority),
    group: '',
    priority,
    interruptionPenaltyBucket: BUCKETS[at % BUCKETS.length] ?? 1,
    reclamationPenaltyBucket: 1,
    requirements: [`node.kubernetes.io/instance-type In [${instanceType}]`],
    resources: { cpu: String(4 + (at % 60)), memory: `${16 + (at % 200)}Gi` },
    isSatisfied: !isShort,
    deficit: isShort ? { cpu: '4' } : {},
    reason: isShort ? (UNMET[at % UNMET.length] ?? '') : '',
    claimed: isShort ? 0 : 1 + (at % 9),
    ageCyclesUnmet: isShort ? 1 + (at % 90) : 0,
    isEscalated: isShort && at % 90 > 5,
    isParked: false,
    domain: '',
    matching: isShort
      ? { idle: 0, configured: 2 + (at % 7), speculative: 0 }
      : { idle: 0, configured: 0, speculative: 0 },
    awaitingDrain: 0,
  };
}

function clusterName(at: number): string {
  const team = ['search', 'ads', 'checkout', 'ml', 'video', 'maps', 'risk', 'ops'][at % 8] ?? '';
  return `${team}-${String(at).padStart(4, '0')}`;
}
