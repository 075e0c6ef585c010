// The world of the failover drills: a real three-node etcd, three coordinator processes that can be
// cut from it, real shards that report every second and run cycles, a flow of assignments, and a
// ledger of some hundred rows (below 1,000 after a hundred drills). Everything runs until the stage
// ends; drills disturb it.

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import {
  createPartitions,
  createTempDir,
  type EtcdCluster,
  eventually,
  http,
  type Partitions,
} from '../../toolkit/index.ts';
import { startEtcd } from '../../etcd/binaries.ts';
import { type ShardProcess, startOperator } from '../../shard/shard-process.ts';
import { startAssignmentFlow } from './assignment-flow.ts';
import { type CoordinatorProcess, findLeader, type Leader } from './coordinator-process.ts';
import { discoveryOf } from './discovery.ts';
import { registerValues, RegisterLoad, VALUES } from './register-load.ts';
import { noteGoal, type Notes } from './repeated.ts';
import { ETCD_HOSTS, HOSTS, planReplicas } from './replica-plan.ts';
import { type ReportingShardOptions, startReportingShard } from './reporting-shard.ts';
import { ShardWatch } from './shard-watch.ts';

/**
 * The default of `--leader-lease-ttl`, for which goals are stated. A leader that stands still for two
 * seconds loses such a lease, so that on a busy machine a second election is legal.
 */
export const DEFAULT_TTL_MS = 5_000;
/** A lease that outlasts what a busy machine does to a leader: here a second election is a fault. */
export const PATIENT_TTL_MS = 15_000;
/** How soon a shard should run its cycles: one in every three changes. */
const GOAL_CHANGES_WITHOUT_CYCLE = 2;
/** As many changes ask for a cycle, on any machine. */
const CHANGES_WORTH_A_CYCLE = 3;

interface StageOptions {
  readonly leaseTtlMs: number;
}

const SHARDS = 2;
const QUOTA_ROWS = 300;

/** A write finds out a deposed leader at once; where reads and reports must, it gets none. */
interface Sparing {
  nodeId: string | undefined;
}

export class FailoverStage implements AsyncDisposable {
  readonly etcd: EtcdCluster;
  readonly partitions: Partitions;
  readonly replicas: readonly CoordinatorProcess[];
  readonly watches: readonly ShardWatch[];
  readonly leaseTtlMs: number;
  readonly #sparing: Sparing;
  readonly #opened: AsyncDisposableStack;
  /** Of each drill and shard: changes of demand in a row after which no cycle ran. */
  readonly #changesWithoutCycle: number[] = [];
  #loadCount = 0;

  static async start({ leaseTtlMs }: StageOptions): Promise<FailoverStage> {
    await using opening = new AsyncDisposableStack();
    const folder = opening.use(createTempDir('failover'));
    const partitions = opening.use(await createPartitions({ hosts: HOSTS }));
    const places = ETCD_HOSTS.map((host) => partitions.place(host));
    const etcd = opening.use(await startEtcd(3, { places }));
    const plan = { folder: folder.path, partitions, etcd, leaseTtlMs };
    const replicas = await planReplicas(plan, opening);
    await Promise.all(replicas.map((replica) => replica.start()));
    await Promise.all(replicas.map((replica) => replica.waitReady()));
    const leader = await findLeader(replicas);
    await fillLedger(leader.replica);
    const coordinators = await discoveryOf(replicas, partitions.backend, opening);
    const shardIds = indices(SHARDS).map((at) => `shard-${at}`);
    const watches: ShardWatch[] = [];
    for (const shardId of shardIds) {
      const options = { shardId, folder: path.join(folder.path, shardId), coordinators };
      watches.push(await startWatched(options, opening));
    }
    await untilRegistered(leader.replica, shardIds);
    const sparing: Sparing = { nodeId: undefined };
    const mayWriteTo = (nodeId: string): boolean => sparing.nodeId !== nodeId;
    opening.use(startAssignmentFlow({ replicas, shardIds, mayWriteTo }));
    const opened = opening.move();
    return new FailoverStage({ etcd, partitions, replicas, watches, leaseTtlMs, sparing, opened });
  }

  private constructor(given: {
    readonly etcd: EtcdCluster;
    readonly partitions: Partitions;
    readonly replicas: readonly CoordinatorProcess[];
    readonly watches: readonly ShardWatch[];
    readonly leaseTtlMs: number;
    readonly sparing: Sparing;
    readonly opened: AsyncDisposableStack;
  }) {
    this.etcd = given.etcd;
    this.partitions = given.partitions;
    this.replicas = given.replicas;
    this.watches = given.watches;
    this.#sparing = given.sparing;
    this.#opened = given.opened;
    this.leaseTtlMs = given.leaseTtlMs;
  }

  /** No stall ends a lease: a drill takes one election. */
  get isPatient(): boolean {
    return this.leaseTtlMs >= PATIENT_TTL_MS;
  }

  leader(): Promise<Leader> {
    return findLeader(this.replicas);
  }

  /** Reads and writes at every replica until finished. */
  startLoad(name: string): RegisterLoad {
    this.#loadCount += 1;
    const { replicas } = this;
    const mayWriteTo = (nodeId: string): boolean => this.#sparing.nodeId !== nodeId;
    return new RegisterLoad({ name: `${name}-${this.#loadCount}`, replicas, mayWriteTo });
  }

  /** No write goes to this replica; undefined: to all. */
  spareWrites(nodeId: string | undefined): void {
    this.#sparing.nodeId = nodeId;
  }

  /** From here on, what the shards did is of the next drill. */
  beginWindow(): void {
    for (const watch of this.watches) watch.begin();
  }

  /** No shard stood still, and none went back to an older assignment. */
  assertShardsUnaffected(): void {
    for (const watch of this.watches) {
      const window = watch.window();
      const text = JSON.stringify(window);
      assert.ok(window.changeCount < CHANGES_WORTH_A_CYCLE || window.cycleCount > 0, text);
      this.#changesWithoutCycle.push(window.longestWithoutCycle);
      watch.assertNeverBack();
    }
  }

  /** How the cycles of all drills until now stood to their goal. */
  noteCycles(notes: Notes): void {
    noteGoal(notes, {
      what: 'changes of demand in a row without a cycle',
      measured: this.#changesWithoutCycle,
      atMost: GOAL_CHANGES_WITHOUT_CYCLE,
    });
  }

  /** The term rose; on a patient stage the replica that served first leads still. */
  assertElected(before: Leader, after: Leader, firstServed: string): void {
    assert.ok(after.term > before.term, `term ${after.term} after ${before.term}`);
    if (!this.isPatient) return;
    assert.equal(after.replica.nodeId, firstServed, 'one election, and another replica');
  }

  /** Whatever is disturbed just now. */
  async untilShardsCycle(): Promise<void> {
    const before = this.watches.map((watch) => watch.window().cycleCount);
    const goesOn = (watch: ShardWatch, at: number): boolean =>
      watch.window().cycleCount > (before[at] ?? 0);
    await eventually(() => this.watches.every(goesOn), { what: 'every shard runs another cycle' });
  }

  async untilReportsAnswered(): Promise<void> {
    this.beginWindow();
    await eventually(() => this.watches.every((watch) => watch.window().answeredCount > 0), {
      what: "every shard's reports are answered again",
    });
  }

  /** Without any, "none went back" would say nothing. */
  assertAssignmentsFlowed(): void {
    for (const { assignmentCount } of this.watches) assert.ok(assignmentCount > 1);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#opened.disposeAsync();
  }
}

/** What the registers may hold, and rows that a new leader has to load. */
async function fillLedger(leader: CoordinatorProcess): Promise<void> {
  await registerValues(leader);
  const rows = indices(QUOTA_ROWS);
  const workers = indices(8).map(async () => {
    for (let row = rows.pop(); row !== undefined; row = rows.pop()) {
      const perShard = { [VALUES[0] ?? '']: row };
      await leader.admin.setQuota({ provider: `provider-${row}`, region: 'drill', perShard });
    }
  });
  await Promise.all(workers);
}

async function startWatched(
  options: ReportingShardOptions,
  opening: AsyncDisposableStack,
): Promise<ShardWatch> {
  mkdirSync(options.folder, { recursive: true });
  const shard = opening.use(await startReportingShard(options));
  // The first cycle waits for threads to start; a drill that began before it would blame the shard.
  await untilReady(shard);
  const operator = opening.use(startOperator(`of-${options.shardId}`, () => shard.address));
  return opening.use(new ShardWatch(shard, operator));
}

async function untilReady({ metricsAddress }: ShardProcess): Promise<void> {
  const url = `http://${metricsAddress}/readyz`;
  await eventually(async () => (await http({ url })).status === 200, {
    what: 'the shard has made its first cycle',
  });
}

async function untilRegistered(
  { coordinator }: CoordinatorProcess,
  shardIds: readonly string[],
): Promise<void> {
  await eventually(
    async () => {
      const { shards } = await coordinator.listShards({});
      return shardIds.every((id) => shards.some(({ shardId }) => shardId === id));
    },
    { what: 'every shard is registered' },
  );
}

function indices(count: number): number[] {
  return Array.from({ length: count }, (_, at) => at);
}
