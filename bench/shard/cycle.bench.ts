// The loaded twins: the shard's whole cycle (reconcile over gRPC, decide, queue) in a running
// process with sessions, an asynchronous provider, metrics and records on. An iteration is a tick of
// the load, from the roll-ups of a tenth of the clusters to their acknowledgements; the cycles
// themselves are the shard's own raw samples.
//
// `steady` is the twin of the engine's bench, so its load has the same shape: per cycle 100 changed
// rows and 100 transitions, with what follows from them, in a tenth of the clusters, and the scheduled
// safety passes apart. (Until a tick moved on to another tenth each time, a cycle evaluated two
// tenths, twice what the bare engine did.) The bare engine runs alone, afterwards: unloaded.

import { createRandom } from '@bigfleet/base';
import { Churn } from '../engine/churn.ts';
import { growToTwo } from '../engine/cycle-fleet.ts';
import { clusterNames, type Fleet } from '../engine/fleet.ts';
import { LOCAL_5K } from '../engine/local-5k.ts';
import {
  type Bars,
  type BenchEntry,
  defineBench,
  type Extra,
  type ShapeRule,
} from '../harness/index.ts';
import { percentiles } from '../harness/percentiles.ts';
import { buildShape } from './shapes.ts';
import { SAFETY, type ShardProcess } from './shard-process.ts';
import { Stage } from './stage.ts';

type Percentiles = ReturnType<typeof percentiles>;

const GIB = 1_024 ** 3;
const WARMUP_TICKS = 60;
const TICKS = 600;
/** The least distance of two cycles: as many ticks as cycles. */
const TICK_MS = 100;
const BARE_CYCLES = 600;

interface Loaded {
  readonly stage: Stage;
  readonly shard: ShardProcess;
  readonly counts: Readonly<Record<string, number>>;
  /** When the timed part began, what the shard had used by then, and the next tick. */
  startUnixMs: number;
  startCpuMs: number;
  nextMs: number;
}

interface LoadedPlan {
  readonly name: string;
  readonly shape: string;
  readonly clusters: number;
  readonly counts: Readonly<Record<string, ShapeRule>>;
  readonly bars: Bars;
  /** What the operators are asked for. */
  readonly tick: string;
  /** The bare engine on the same shape, in this run. */
  readonly unloaded?: () => Percentiles;
}

async function start({ shape, clusters }: LoadedPlan): Promise<Loaded> {
  const stage = new Stage({ shape, clusters: clusterNames(clusters) });
  try {
    const provider = await stage.startProvider();
    const shard = stage.startShard();
    await shard.started();
    await stage.startOperators(shard.address);
    await shard.quiet();
    const counts = {
      machines: await shard.total('bigfleet_shard_inventory_machines'),
      atProvider: await provider.askNumber('machineCount'),
      sessions: await shard.metric('bigfleet_shard_active_sessions'),
      needs: await shard.metric('bigfleet_shard_need_rows'),
    };
    return { stage, shard, counts, startUnixMs: 0, startCpuMs: 0, nextMs: performance.now() };
  } catch (error) {
    await stage.close();
    throw error;
  }
}

function loadedBench(plan: LoadedPlan): BenchEntry {
  return defineBench<Loaded>({
    name: plan.name,
    shape: plan.counts,
    warmup: WARMUP_TICKS,
    iterations: TICKS,
    bars: plan.bars,
    measureAllocations: false,
    setup: () => start(plan),
    observe: ({ counts }) => counts,
    async prepare(state, index) {
      if (index === 0) {
        state.startUnixMs = Date.now();
        state.startCpuMs = state.shard.cpuMs();
        await state.shard.resetLoopDelay();
      }
      state.nextMs = Math.max(state.nextMs + TICK_MS, performance.now());
      const waitMs = Math.max(1, state.nextMs - performance.now());
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    },
    async iteration({ stage }, index) {
      await stage.count(plan.tick, index);
    },
    extras: (state) => measure(state, plan),
    teardown: ({ stage }) => stage.close(),
  });
}

async function measure(
  { stage, shard, startUnixMs, startCpuMs }: Loaded,
  plan: LoadedPlan,
): Promise<Extra> {
  const cpuMsPerTick = (shard.cpuMs() - startCpuMs) / TICKS;
  const loopDelayP99Ms = await shard.loopDelayP99Ms();
  const cycles = percentiles(await shard.samplesSince('cycle', startUnixMs));
  const phases = percentiles(await shard.samplesSince('cycle_phases', startUnixMs));
  const reconcile = percentiles(await shard.samplesSince('cycle_reconcile', startUnixMs));
  const safety = await shard.samplesSince(SAFETY, startUnixMs);
  const lostCount = await stage.count('lostCount');
  const mismatches = await shard.metric('bigfleet_shard_incremental_mismatch_total');
  if (lostCount > 0 || mismatches > 0) {
    throw new Error(`${lostCount} sessions lost, ${mismatches} mismatches`);
  }
  const rssBytes = shard.rssBytes();
  const peakRssBytes = shard.peakRssBytes();
  const actions = await shard.total('bigfleet_shard_actions_total');
  await stage.close();
  const unloaded = plan.unloaded?.();
  return {
    cycleP50Ms: cycles.p50,
    cycleP95Ms: cycles.p95,
    cycleP99Ms: cycles.p99,
    cycleMaxMs: cycles.max,
    phasesP50Ms: phases.p50,
    phasesP99Ms: phases.p99,
    reconcileP50Ms: reconcile.p50,
    reconcileP99Ms: reconcile.p99,
    safetyCycleMaxMs: Math.max(0, ...safety),
    loopDelayP99Ms,
    cpuMsPerTick,
    shardRssBytes: rssBytes,
    shardPeakRssBytes: peakRssBytes,
    actions,
    ...(unloaded === undefined ? {} : against(unloaded, cycles, phases)),
  };
}

/** The whole cycle against the bare engine, and what of it is deciding: the rest is the way there. */
function against(bare: Percentiles, cycles: Percentiles, phases: Percentiles): Extra {
  return {
    unloadedP50Ms: bare.p50,
    unloadedP99Ms: bare.p99,
    slowdown: cycles.p99 / bare.p99,
    slowdownP50: cycles.p50 / bare.p50,
    phasesSlowdown: phases.p99 / bare.p99,
    phasesSlowdownP50: phases.p50 / bare.p50,
  };
}

/**
 * `engine/cycle/steady/500k/steady`, here and now, with the shard gone: records on, safety passes
 * apart. Both sides leave those out.
 */
function bareSteady(): Percentiles {
  const fleet: Fleet = buildShape('steady-500k');
  fleet.engine.hasRecords = true;
  const churn = new Churn(fleet, createRandom(1n).stream('churn'), { grow: growToTwo });
  const tookMs: number[] = [];
  for (let cycle = 0; cycle < BARE_CYCLES; cycle++) {
    churn.apply();
    const startMs = performance.now();
    fleet.cycle();
    const elapsedMs = performance.now() - startMs;
    if (fleet.engine.pass !== 'safety') tookMs.push(elapsedMs);
  }
  return percentiles(Float64Array.from(tookMs));
}

const LOCAL_NEEDS = LOCAL_5K.clusters * (2 + LOCAL_5K.cacheGangs + LOCAL_5K.trainingGangs);

const entries: readonly BenchEntry[] = [
  loadedBench({
    name: 'shard/cycle/steady/500k',
    shape: 'steady-500k',
    tick: 'steadyTick',
    clusters: 50,
    counts: { machines: 500_000, atProvider: 500_000, sessions: 50, needs: 50_000 },
    bars: {
      'extra.slowdown': { max: 3 },
      'extra.loopDelayP99Ms': { max: 50 },
      'extra.shardRssBytes': { max: GIB },
    },
    unloaded: bareSteady,
  }),
  loadedBench({
    name: 'shard/local-5k',
    shape: 'local-5k',
    tick: 'tick',
    clusters: LOCAL_5K.clusters,
    counts: {
      machines: 5_000,
      atProvider: 5_000,
      sessions: LOCAL_5K.clusters,
      needs: LOCAL_NEEDS,
    },
    bars: { 'extra.cycleP95Ms': { max: 50 }, 'extra.cycleP99Ms': { max: 100 } },
  }),
];

export default entries;
