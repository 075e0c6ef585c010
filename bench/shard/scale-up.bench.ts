// Throughput out of the box: a thousand machines wanted at once of a provider that takes 100 ms for
// each call, two calls and a bootstrap for every machine, with the flags that nobody sets. An iteration
// is one scale-up in processes of its own, from the roll-ups to the last machine that the provider
// calls Configured. The shard waits for its next List to see an asynchronous transition end, so the
// time contains ticks of the cycle.
//
// The reference, in the same run, is the same scale-up with one worker, for as long as it takes to see
// its rate.

import { setTimeout as sleep } from 'node:timers/promises';
import { clusterNames } from '../engine/fleet.ts';
import { type BenchEntry, defineBench } from '../harness/index.ts';
import { percentiles } from '../harness/percentiles.ts';
import { SCALE_UP_CLUSTERS, SCALE_UP_MACHINES } from './shapes.ts';
import { Stage } from './stage.ts';

const CALL_MS = 100;
/** Create and Configure. */
const CALLS_PER_MACHINE = 2;
const POLL_MS = 20;
const UP_WITHIN_MS = 240_000;
const ONE_WORKER_MS = 20_000;

interface Run {
  readonly actionsPerSecond: number;
  /** Of the provider's calls that change something. */
  readonly openMax: number;
  readonly cycleCount: number;
}

interface ScaleUp {
  stage: Stage;
  readonly counts: Readonly<Record<string, number>>;
  readonly runs: Run[];
}

const entries: readonly BenchEntry[] = [
  defineBench<ScaleUp>({
    name: 'shard/scale-up/1k',
    shape: { machines: SCALE_UP_MACHINES, configured: 0, workers: 64 },
    warmup: 1,
    iterations: 5,
    bars: { maxMs: { max: 60_000 }, 'extra.ratio': { min: 8 } },
    measureAllocations: false,
    timeoutMs: 1_200_000,
    async setup() {
      const stage = await started();
      const counts = {
        machines: await ask(stage, 'machineCount'),
        configured: await ask(stage, 'configuredCount'),
        workers: (await stage.shard?.total('bigfleet_shard_provider_execute_window')) ?? 0,
      };
      return { stage, counts, runs: [] };
    },
    observe: ({ counts }) => counts,
    async prepare(state) {
      await state.stage.close();
      state.stage = await started();
    },
    async iteration({ stage, runs }) {
      runs.push(await scaledUp(stage));
    },
    async extras({ runs }) {
      const measured = runs.slice(1);
      const of = (value: (run: Run) => number): number =>
        percentiles(Float64Array.from(measured, value)).p50;
      const actionsPerSecond = of((run) => run.actionsPerSecond);
      const oneWorkerPerSecond = await withOneWorker();
      return {
        actionsPerSecond,
        cycleCount: of(({ cycleCount }) => cycleCount),
        openMax: Math.max(...measured.map(({ openMax }) => openMax)),
        oneWorkerPerSecond,
        ratio: actionsPerSecond / oneWorkerPerSecond,
      };
    },
    teardown: ({ stage }) => stage.close(),
  }),
];

export default entries;

/** Sessions open, nothing asked for. */
async function started(shardFlags: readonly string[] = []): Promise<Stage> {
  const stage = new Stage({
    shape: 'scale-up-1k',
    clusters: clusterNames(SCALE_UP_CLUSTERS),
    providerCallMs: CALL_MS,
    shardFlags,
  });
  try {
    await stage.startProvider();
    const shard = stage.startShard();
    await shard.started();
    await stage.openOperators(shard.address);
    return stage;
  } catch (error) {
    await stage.close();
    throw error;
  }
}

async function scaledUp(stage: Stage): Promise<Run> {
  const startMs = performance.now();
  await stage.firstRollups();
  let count = 0;
  while (count < SCALE_UP_MACHINES) {
    if (performance.now() - startMs > UP_WITHIN_MS) throw new Error(`${count} are Configured`);
    await sleep(POLL_MS);
    count = await ask(stage, 'configuredCount');
  }
  const tookMs = performance.now() - startMs;
  const callCount = await ask(stage, 'callCount');
  if (callCount !== CALLS_PER_MACHINE * SCALE_UP_MACHINES) throw new Error(`${callCount} calls`);
  return {
    actionsPerSecond: (callCount * 1_000) / tookMs,
    openMax: await ask(stage, 'openMax'),
    cycleCount: (await stage.shard?.metric('bigfleet_shard_cycles_total')) ?? 0,
  };
}

/** The rate of the first seconds: the whole would take minutes. */
async function withOneWorker(): Promise<number> {
  const stage = await started(['--execute-concurrency=1']);
  try {
    const startMs = performance.now();
    await stage.firstRollups();
    await sleep(ONE_WORKER_MS);
    return ((await ask(stage, 'callCount')) * 1_000) / (performance.now() - startMs);
  } finally {
    await stage.close();
  }
}

function ask(stage: Stage, question: string): Promise<number> {
  if (stage.provider === undefined) throw new Error('the provider comes first');
  return stage.provider.askNumber(question);
}
