// A shard process with every kind of history that the queries ask about: 5,000 machines of clusters
// that never spoke, and four clusters with real sessions. Together they bought, bootstrapped, gave
// back and preempted, and left demand of every priority class open. The end state is the same in
// every run: each step waits for the one before, and the zones leave no choice where work goes.

import assert from 'node:assert/strict';
import path from 'node:path';
import { MachineState } from '@bigfleet/wire';
import { eventually, http } from '../toolkit/index.ts';
import {
  type ShardProcess,
  startOperator,
  startShardProcess,
  type TestOperator,
} from '../shard/shard-process.ts';

const CLUSTERS = 100;
const MACHINES_PER_CLUSTER = 50;

/** Configured for clusters without a session: never reclaimed, but of the lowest priority. */
export const BOUND_COUNT: number = CLUSTERS * MACHINES_PER_CLUSTER;

/** Of each pool, two thirds are in the zones where work may go: 6 bare-metal, 4 spot, 2 on demand. */
const SEEDS = ['--seed-machines=9', '--seed-spot=6', '--seed-speculative=3'];
const WORK_ZONES = ['fake-zone-a', 'fake-zone-b'];
const SPARE_ZONE = ['fake-zone-c'];

interface Workload {
  readonly name: string;
  readonly podCount: number;
  readonly priority: number;
  /** Dollars. */
  readonly interruptionPenalty: number;
  readonly zones: readonly string[];
}

const PASSING: Workload = workload('passing', 1, 1_000, 0, SPARE_ZONE);
/** Both find idle bare metal, which costs nothing, and take all of it. */
const ANCHORED: Workload = workload('anchored', 3, 1_000, 1e9);
const BATCH: Workload = workload('batch', 3, 100, 0);
/** Cheap to interrupt: spot. */
const STATELESS: Workload = workload('stateless', 4, 1_000, 1);
/** Dear to interrupt: on demand. */
const STEADY: Workload = workload('steady', 2, 1_000, 1_024);
/** Finds nothing left, and preempts a machine that serves no known priority. */
const URGENT: Workload = workload('urgent', 1, 1_000_000, 8);
const NOWHERE_SERVICE: Workload = workload('nowhere-service', 1, 1_000, 0, ['no-such-zone']);
const NOWHERE_CRITICAL: Workload = workload('nowhere-critical', 1, 1_000_000, 0, ['no-such-zone']);

export interface LoadedShard extends AsyncDisposable {
  readonly shard: ShardProcess;
  /** Resolves at rest, with all gauges published. */
  load(): Promise<void>;
}

export async function startLoadedShard(dir: string): Promise<LoadedShard> {
  await using stack = new AsyncDisposableStack();
  const shard = stack.use(
    await startShardProcess([
      `--data-dir=${path.join(dir, 'shard')}`,
      '--fake-provider',
      ...SEEDS,
      `--seed-cluster-total=${CLUSTERS}`,
      `--seed-configured-per-cluster=${MACHINES_PER_CLUSTER}`,
    ]),
  );
  const start = (name: string): TestOperator => stack.use(startOperator(name, () => shard.address));
  const [blue, green, red, waker] = ['blue', 'green', 'red', 'waker'].map(start);
  assert.ok(blue && green && red && waker);
  const clusters = { blue, green, red, waker };
  const owned = stack.move();
  return {
    shard,
    load: () => load(shard, clusters),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

interface Clusters {
  readonly blue: TestOperator;
  readonly green: TestOperator;
  readonly red: TestOperator;
  /** Its demand, which nothing can serve, is unmet at the lowest priority and wakes the loop. */
  readonly waker: TestOperator;
}

async function load(shard: ShardProcess, { blue, green, red, waker }: Clusters): Promise<void> {
  const serves = (operator: TestOperator, count: number, what: string): Promise<true> =>
    eventually(
      () => {
        waker.cluster.nudge();
        return operator.cluster.machinesIn(MachineState.CONFIGURED).length === count;
      },
      { what, everyMs: 150, details: () => lastLines(shard) },
    );
  demand(blue, PASSING);
  await serves(blue, 1, 'a machine for what passes');
  forget(blue, PASSING);
  await serves(blue, 0, 'that machine given back');
  demand(blue, ANCHORED);
  await serves(blue, 3, 'bare metal for pinned work');
  demand(green, BATCH);
  await serves(green, 3, 'bare metal for the batch');
  demand(blue, STATELESS);
  demand(blue, STEADY);
  await serves(blue, 9, 'bought machines');
  demand(red, URGENT);
  await serves(red, 1, 'a preempted machine');
  demand(red, NOWHERE_SERVICE);
  demand(red, NOWHERE_CRITICAL);
  await afterCycles(shard, waker, 4);
}

/** Roll-ups leave every 500 ms at the latest, and cycles publish what they saw. */
async function afterCycles(shard: ShardProcess, waker: TestOperator, count: number): Promise<void> {
  const cycles = (): Promise<number> => readMetric(shard, 'bigfleet_shard_cycles_total');
  const rows = (): Promise<number> => readMetric(shard, 'bigfleet_shard_need_rows');
  await eventually(async () => (await rows()) === 8, { what: 'all demand' });
  const before = await cycles();
  await eventually(
    async () => {
      waker.cluster.nudge();
      return (await cycles()) >= before + count;
    },
    { what: `${count} cycles`, everyMs: 150 },
  );
}

function lastLines(shard: ShardProcess): string {
  return shard.process.output.text().split('\n').slice(-20).join('\n');
}

async function readMetric(shard: ShardProcess, name: string): Promise<number> {
  const { body } = await http({ url: `http://${shard.metricsAddress}/metrics` });
  const line = body.split('\n').find((each) => each.startsWith(`${name} `));
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1));
}

/** Pods that fill a machine each. */
function demand({ cluster }: TestOperator, wanted: Workload): void {
  const { name, podCount, priority, interruptionPenalty, zones } = wanted;
  for (let pod = 0; pod < podCount; pod++) {
    const refused = cluster.demand().set({
      namespace: 'default',
      name: `${name}-${pod}`,
      uid: `${name}-${pod}`,
      resourceVersion: '1',
      isForeign: false,
      isAcknowledged: false,
      spec: {
        requirements: [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: zones }],
        resources: { cpu: '4' },
        priority,
        interruptionPenalty,
      },
    });
    assert.equal(refused, undefined);
  }
}

function forget({ cluster }: TestOperator, { name, podCount }: Workload): void {
  for (let pod = 0; pod < podCount; pod++) cluster.demand().delete(`${name}-${pod}`);
}

function workload(
  name: string,
  podCount: number,
  priority: number,
  interruptionPenalty: number,
  zones: readonly string[] = WORK_ZONES,
): Workload {
  return { name, podCount, priority, interruptionPenalty, zones };
}
