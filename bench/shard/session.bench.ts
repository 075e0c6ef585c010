// 5,000 operators, each on its own mTLS connection, and what the shard takes in from them: roll-ups
// of 2 KB from all of them, and of 2,000 needs from twenty. Every roll-up is a change; a roll-up
// counts when it was decoded, applied and acknowledged.
//
// The operators run on the same two cores, so a rate by the clock is one of both sides and of
// whatever else runs. Beside it stands the shard's own processor time per roll-up, all threads, and
// the rate that one core would give for it.

import { clusterNames } from '../engine/fleet.ts';
import { type BenchEntry, defineBench } from '../harness/index.ts';
import { NARROW_NEEDS, SESSIONS, WIDE_CLUSTERS, WIDE_NEEDS } from './shapes.ts';
import type { ShardProcess } from './shard-process.ts';
import { Stage } from './stage.ts';

const GIB = 1_024 ** 3;
const WIDE_ROUNDS = 20;
const WIDE_ROLLUPS = WIDE_ROUNDS * WIDE_CLUSTERS;
const NARROW_SESSIONS = SESSIONS - WIDE_CLUSTERS;
const NARROW_ROUNDS = 3;
const NEEDS = NARROW_SESSIONS * NARROW_NEEDS + WIDE_CLUSTERS * WIDE_NEEDS;

interface Sessions {
  readonly stage: Stage;
  readonly shard: ShardProcess;
  readonly openMs: number;
  /** With its machines, before the first session. */
  readonly startRssBytes: number;
  readonly counts: Readonly<Record<string, number>>;
}

async function start(): Promise<Sessions> {
  const clusters = clusterNames(SESSIONS);
  const stage = new Stage({ shape: 'sessions-500k', clusters, operatorProcesses: 2 });
  try {
    await stage.startProvider();
    const shard = stage.startShard();
    await shard.started();
    const startRssBytes = shard.rssBytes();
    const openMs = await stage.startOperators(shard.address);
    await shard.quiet();
    const counts = {
      sessions: await shard.metric('bigfleet_shard_active_sessions'),
      needs: await shard.metric('bigfleet_shard_need_rows'),
      machines: await shard.total('bigfleet_shard_inventory_machines'),
    };
    return { stage, shard, openMs, startRssBytes, counts };
  } catch (error) {
    await stage.close();
    throw error;
  }
}

interface Cost {
  readonly perSecond: number;
  /** Of the shard, all threads. */
  readonly cpuMs: number;
  /** Of the operators, for comparison. */
  readonly driverCpuMs: number;
  readonly loopDelayP99Ms: number;
}

/** Per roll-up. */
async function costOf(
  { stage, shard }: Sessions,
  rollups: number,
  send: () => Promise<unknown>,
): Promise<Cost> {
  const cpuMs = async (): Promise<number> =>
    1_000 * (await shard.metric('process_cpu_seconds_total'));
  await shard.resetLoopDelay();
  const [shardMs, driverMs, startMs] = [
    await cpuMs(),
    await stage.count('cpuMs'),
    performance.now(),
  ];
  await send();
  const tookMs = performance.now() - startMs;
  // Taken with the scrape that it ends.
  const loopDelayP99Ms = await shard.loopDelayP99Ms();
  return {
    perSecond: (rollups * 1_000) / tookMs,
    cpuMs: ((await cpuMs()) - shardMs) / rollups,
    driverCpuMs: ((await stage.count('cpuMs')) - driverMs) / rollups,
    loopDelayP99Ms,
  };
}

const entries: readonly BenchEntry[] = [
  defineBench<Sessions>({
    name: 'shard/session/5k',
    shape: { sessions: SESSIONS, needs: NEEDS, machines: 500_000 },
    warmup: 2,
    iterations: 5,
    opsPerIteration: NARROW_SESSIONS,
    bars: {
      'extra.opsPerSecond': { min: 5_000 },
      'extra.wideRollupsPerSecond': { min: 200 },
      'extra.shardRssBytes': { max: 2 * GIB },
    },
    measureAllocations: false,
    setup: start,
    observe: ({ counts }) => counts,
    /** A roll-up of every narrow session. */
    async iteration({ stage }) {
      await stage.count('narrow');
    },
    async extras(sessions) {
      const { stage, shard, openMs, startRssBytes } = sessions;
      const wide = await costOf(sessions, WIDE_ROLLUPS, () => stage.count('wide', WIDE_ROUNDS));
      const narrow = await costOf(sessions, NARROW_ROUNDS * NARROW_SESSIONS, async () => {
        for (let round = 0; round < NARROW_ROUNDS; round++) await stage.count('narrow');
      });
      const lostCount = await stage.count('lostCount');
      if (lostCount > 0) throw new Error(`${lostCount} sessions were lost`);
      return {
        wideRollupsPerSecond: wide.perSecond,
        cpuMsPerRollup2k: narrow.cpuMs,
        cpuMsPerRollup2000needs: wide.cpuMs,
        oneCoreRollupsPerSecond2k: 1_000 / narrow.cpuMs,
        oneCoreRollupsPerSecond2000needs: 1_000 / wide.cpuMs,
        driverCpuMsPerRollup2k: narrow.driverCpuMs,
        driverCpuMsPerRollup2000needs: wide.driverCpuMs,
        narrowLoopDelayP99Ms: narrow.loopDelayP99Ms,
        wideLoopDelayP99Ms: wide.loopDelayP99Ms,
        narrowBytes: (await stage.count('rollupBytes', NARROW_NEEDS)) / stage.operators.length,
        wideBytes: (await stage.count('rollupBytes', WIDE_NEEDS)) / stage.operators.length,
        openMs,
        opensPerSecond: (SESSIONS * 1_000) / openMs,
        shardRssBytes: shard.rssBytes(),
        shardPeakRssBytes: shard.peakRssBytes(),
        /** Of the machines alone; the rest is sessions, demand and load. */
        shardStartRssBytes: startRssBytes,
      };
    },
    teardown: ({ stage }) => stage.close(),
  }),
];

export default entries;
