// 5,000 operators, each on its own mTLS connection, and what the shard takes in from them: roll-ups
// of 2 KB from all of them, and of 2,000 needs from twenty. Every roll-up is a change; a roll-up
// counts when it was decoded, applied and acknowledged. The operators run on the same two cores.

import { clusterNames } from '../engine/fleet.ts';
import { type BenchEntry, defineBench } from '../harness/index.ts';
import { NARROW_NEEDS, SESSIONS, WIDE_CLUSTERS, WIDE_NEEDS } from './shapes.ts';
import type { ShardProcess } from './shard-process.ts';
import { Stage } from './stage.ts';

const GIB = 1_024 ** 3;
const WIDE_ROUNDS = 20;
const WIDE_ROLLUPS = WIDE_ROUNDS * WIDE_CLUSTERS;
const NARROW_SESSIONS = SESSIONS - WIDE_CLUSTERS;
const NEEDS = NARROW_SESSIONS * NARROW_NEEDS + WIDE_CLUSTERS * WIDE_NEEDS;

interface Sessions {
  readonly stage: Stage;
  readonly shard: ShardProcess;
  readonly openMs: number;
  readonly counts: Readonly<Record<string, number>>;
}

async function start(): Promise<Sessions> {
  const clusters = clusterNames(SESSIONS);
  const stage = new Stage({ shape: 'sessions-500k', clusters, operatorProcesses: 2 });
  try {
    await stage.startProvider();
    const shard = stage.startShard();
    await shard.started();
    const openMs = await stage.startOperators(shard.address);
    await shard.quiet();
    const counts = {
      sessions: await shard.metric('bigfleet_shard_active_sessions'),
      needs: await shard.metric('bigfleet_shard_need_rows'),
      machines: await shard.total('bigfleet_shard_inventory_machines'),
    };
    return { stage, shard, openMs, counts };
  } catch (error) {
    await stage.close();
    throw error;
  }
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
    async extras({ stage, shard, openMs }) {
      await shard.resetLoopDelay();
      const startMs = performance.now();
      await stage.count('wide', WIDE_ROUNDS);
      const wideMs = performance.now() - startMs;
      const wideLoopDelayP99Ms = await shard.loopDelayP99Ms();
      await stage.count('narrow');
      const lostCount = await stage.count('lostCount');
      if (lostCount > 0) throw new Error(`${lostCount} sessions were lost`);
      return {
        wideRollupsPerSecond: (WIDE_ROLLUPS * 1_000) / wideMs,
        wideLoopDelayP99Ms,
        narrowLoopDelayP99Ms: await shard.loopDelayP99Ms(),
        narrowBytes: (await stage.count('rollupBytes', NARROW_NEEDS)) / stage.operators.length,
        wideBytes: (await stage.count('rollupBytes', WIDE_NEEDS)) / stage.operators.length,
        openMs,
        opensPerSecond: (SESSIONS * 1_000) / openMs,
        shardRssBytes: shard.rssBytes(),
        shardPeakRssBytes: shard.peakRssBytes(),
      };
    },
    teardown: ({ stage }) => stage.close(),
  }),
];

export default entries;
