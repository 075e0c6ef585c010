// From a Pod created to its CapacityRequest written, at 200 Pods a second beside 2,000 that are there: the
// pod controller, beside the common client's informer that writes a request on each `add`. The server's
// clock measures both ends. The controller derives, names, hashes and stamps each request; the reference
// writes one constant.

import { type BenchEntry, defineBench, type Extra } from '../harness/index.ts';
import { median, percentiles } from '../harness/percentiles.ts';
import type { ClientOrder } from './client-order.ts';
import { Stage } from './stage.ts';

const POD_COUNT = 2_000;
const PODS_PER_ROUND = 600;
const ROUNDS = 3;
const ROUND_WITHIN_MS = 120_000;

interface State {
  readonly stage: Stage;
  readonly counts: Readonly<Record<string, number>>;
  readonly latenciesMs: number[];
}

async function round(stage: Stage): Promise<Float64Array> {
  const answer = await stage.server.ask('podToRequest', PODS_PER_ROUND, ROUND_WITHIN_MS);
  const latenciesMs = Float64Array.from(answer as readonly number[]);
  if (latenciesMs.length !== PODS_PER_ROUND) {
    throw new Error(`${latenciesMs.length} of ${PODS_PER_ROUND} Pods have their request`);
  }
  return latenciesMs;
}

/** A server and a controller for each: the requests of one side must not be there for the other. */
async function measured(seed: number, side: ClientOrder['side']): Promise<Float64Array[]> {
  const stage = await Stage.start({ seed, pods: POD_COUNT, requests: 0 });
  try {
    await stage.controller(side);
    const rounds: Float64Array[] = [];
    for (let at = -1; at < ROUNDS; at++) {
      const latenciesMs = await round(stage);
      if (at >= 0) rounds.push(latenciesMs);
    }
    return rounds;
  } finally {
    await stage.end();
  }
}

async function compare(seed: number, latenciesMs: readonly number[]): Promise<Extra> {
  const summary = (rounds: readonly Float64Array[]): { p50: number; p99: number; max: number } => {
    const all = rounds.map((one) => percentiles(one));
    return {
      p50: median(all.map(({ p50 }) => p50)),
      p99: median(all.map(({ p99 }) => p99)),
      max: Math.max(...all.map(({ max }) => max)),
    };
  };
  const ours = summary(await measured(seed, 'ours'));
  const reference = summary(await measured(seed, 'reference'));
  const own = percentiles(Float64Array.from(latenciesMs));
  return {
    latencyP50Ms: own.p50,
    latencyP99Ms: own.p99,
    latencyMaxMs: own.max,
    p99Ratio: reference.p99 / ours.p99,
    p50Ratio: reference.p50 / ours.p50,
    oursP99Ms: ours.p99,
    referenceP99Ms: reference.p99,
    oursMaxMs: ours.max,
    referenceMaxMs: reference.max,
  };
}

const SEED = 0x0013;

const entries: readonly BenchEntry[] = [
  defineBench<State>({
    name: 'kube/pod-to-request',
    shape: { pods: POD_COUNT, requests: POD_COUNT },
    warmup: 1,
    iterations: 5,
    opsPerIteration: PODS_PER_ROUND,
    seed: SEED,
    measureAllocations: false,
    bars: { 'extra.latencyP99Ms': { max: 1_000 } },
    async setup({ seed }) {
      const stage = await Stage.start({ seed, pods: POD_COUNT, requests: 0 });
      await stage.controller('ours');
      const counts = {
        pods: await stage.server.askNumber('podCount'),
        requests: await stage.server.askNumber('requestCount'),
      };
      return { stage, counts, latenciesMs: [] };
    },
    observe: ({ counts }) => counts,
    async iteration({ stage, latenciesMs }) {
      latenciesMs.push(...(await round(stage)));
    },
    async extras({ stage, latenciesMs }) {
      // Three processes of a side are enough for two cores.
      await stage.end();
      return compare(SEED, latenciesMs);
    },
    teardown: ({ stage }) => stage.end(),
  }),
];

export default entries;
