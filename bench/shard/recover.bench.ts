// A lost shard: from an empty process to its first complete cycle over half a million machines that
// only the provider still knows. Each iteration is a process of its own.

import { clusterNames } from '../engine/fleet.ts';
import { type BenchEntry, defineBench } from '../harness/index.ts';
import { percentiles } from '../harness/percentiles.ts';
import type { ShardProcess, StartTimes } from './shard-process.ts';
import { Stage } from './stage.ts';

const CLUSTERS = 50;

interface Recovery {
  readonly stage: Stage;
  readonly machines: number;
  readonly configured: number;
  readonly times: StartTimes[];
  shard: ShardProcess | undefined;
}

const entries: readonly BenchEntry[] = [
  defineBench<Recovery>({
    name: 'shard/recover/500k',
    shape: { machines: 500_000, configured: 50_000 },
    warmup: 1,
    iterations: 3,
    bars: { maxMs: { max: 10_000 } },
    measureAllocations: false,
    async setup() {
      const stage = new Stage({ shape: 'steady-500k', clusters: clusterNames(CLUSTERS) });
      try {
        const provider = await stage.startProvider();
        const machines = await provider.askNumber('machineCount');
        const configured = await provider.askNumber('configuredCount');
        return { stage, machines, configured, times: [], shard: undefined };
      } catch (error) {
        await stage.close();
        throw error;
      }
    },
    observe: ({ machines, configured }) => ({ machines, configured }),
    async prepare(state) {
      await state.shard?.stop();
    },
    async iteration(state) {
      state.shard = state.stage.startShard();
      state.times.push(await state.shard.started());
    },
    async extras({ stage, shard, times }) {
      if (shard === undefined) throw new Error('no shard was started');
      const known = await shard.total('bigfleet_shard_inventory_machines');
      if (known !== 500_000) throw new Error(`the shard knows ${known} machines`);
      const p50 = (of: (each: StartTimes) => number): number =>
        percentiles(Float64Array.from(times.slice(1), of)).p50;
      const demandStartMs = performance.now();
      await stage.startOperators(shard.address);
      await shard.quiet();
      return {
        listeningMs: p50(({ listeningMs }) => listeningMs),
        readyMs: p50(({ readyMs }) => readyMs),
        loopDelayMaxMs: p50(({ loopDelayMaxMs }) => loopDelayMaxMs),
        /** From the first session to demand that is served, the building of the load included. */
        servedMs: performance.now() - demandStartMs,
        actionsAfter: await shard.total('bigfleet_shard_actions_total'),
        shardRssBytes: shard.rssBytes(),
        shardPeakRssBytes: shard.peakRssBytes(),
      };
    },
    teardown: ({ stage }) => stage.close(),
  }),
];

export default entries;
