// The operator's roll-up at the size of a large cluster: read all requests and build, build after one
// request in a hundred changed, and build from 100,000. The build is one turn of the event loop, so that
// its time is what bootstrap answers wait for.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { createRandom, type Random } from '@bigfleet/base';
import { type CapacityRequest, DemandIndex, encodeRollup } from '@bigfleet/operator';
import { type BenchEntry, defineBench, keep, measureRetained } from '../harness/index.ts';
import { drawSpec, requestName } from './objects.ts';

const KEY_COUNT = 300;
const CHANGED_SHARE = 100;
const UNIX_NANOS = 1_760_000_000_000_000_000n;
const NANOS_PER_MS = 1e6;

interface Cluster {
  readonly random: Random;
  readonly requests: CapacityRequest[];
  readonly index: DemandIndex;
  readonly bytes: number;
}

function drawRequest(random: Random, at: number): CapacityRequest {
  return {
    namespace: 'default',
    name: requestName(at),
    uid: `${String(at).padStart(8, '0')}-0000-4000-8000-000000000000`,
    resourceVersion: String(1_000_000 + at),
    spec: drawSpec(random, KEY_COUNT),
    isForeign: false,
    // The worst case: a cluster that BigFleet has just met.
    isAcknowledged: false,
  };
}

function filled(requests: readonly CapacityRequest[]): DemandIndex {
  const index = new DemandIndex();
  for (const request of requests) index.set(request);
  return index;
}

async function cluster(seed: number, requestCount: number): Promise<Cluster> {
  const random = createRandom(BigInt(seed)).stream('requests');
  const requests = Array.from({ length: requestCount }, (_, at) => drawRequest(random, at));
  const { value: index, bytes } = await measureRetained(() => filled(requests));
  return { random, requests, index, bytes };
}

function rolledUp(index: DemandIndex): Uint8Array {
  return encodeRollup('bench', UNIX_NANOS, index.rollup().needs);
}

function observed({ index, requests }: Cluster): Record<string, number> {
  const { needs, requestCount, refused } = index.rollup();
  return {
    requests: requestCount,
    drawn: requests.length,
    needs: needs.length,
    refused: refused.length,
  };
}

const NEEDS = { min: 250, max: KEY_COUNT } as const;

function shapeOf(requests: number) {
  return { requests, drawn: requests, needs: NEEDS, refused: 0 };
}

/** Builds in a row with a turn between them, as seen by whatever else waits for the event loop. */
async function lagDuringBuilds(index: DemandIndex): Promise<{ p99Ms: number; maxMs: number }> {
  const lag = monitorEventLoopDelay({ resolution: 1 });
  lag.enable();
  for (let build = 0; build < 100; build++) {
    keep(rolledUp(index));
    await turn();
  }
  lag.disable();
  return { p99Ms: lag.percentile(99) / NANOS_PER_MS, maxMs: lag.max / NANOS_PER_MS };
}

const entries: readonly BenchEntry[] = [
  defineBench<Cluster>({
    name: 'kube/rollup/25k/cold',
    shape: shapeOf(25_000),
    warmup: 3,
    iterations: 30,
    setup: ({ seed }) => cluster(seed, 25_000),
    observe: observed,
    bars: { p99Ms: { max: 1_000 } },
    iteration({ requests }) {
      keep(rolledUp(filled(requests)));
    },
  }),
  defineBench<Cluster>({
    name: 'kube/rollup/25k/changed',
    shape: shapeOf(25_000),
    warmup: 20,
    iterations: 300,
    setup: ({ seed }) => cluster(seed, 25_000),
    observe: observed,
    bars: { p99Ms: { max: 1_000 } },
    prepare({ random, requests }) {
      for (let change = 0; change < requests.length / CHANGED_SHARE; change++) {
        const at = random.below(requests.length);
        requests[at] = drawRequest(random, at);
      }
    },
    iteration({ index, requests }, iteration) {
      const count = requests.length / CHANGED_SHARE;
      for (let change = 0; change < count; change++) {
        const request = requests[(iteration * count + change) % requests.length];
        if (request !== undefined) index.set(request);
      }
      keep(rolledUp(index));
    },
  }),
  defineBench<Cluster>({
    name: 'kube/rollup/100k',
    shape: shapeOf(100_000),
    warmup: 20,
    iterations: 300,
    setup: ({ seed }) => cluster(seed, 100_000),
    observe: observed,
    // kubernetes §7.2: the build within a second, the event loop never held for 50 ms, at most 300 bytes
    // for a request.
    bars: {
      p99Ms: { max: 1_000 },
      'extra.loopLagP99Ms': { max: 50 },
      'extra.bytesPerRequest': { max: 300 },
    },
    iteration({ index }) {
      keep(rolledUp(index));
    },
    async extras({ index, bytes, requests }) {
      const { p99Ms, maxMs } = await lagDuringBuilds(index);
      return {
        loopLagP99Ms: p99Ms,
        loopLagMaxMs: maxMs,
        bytesPerRequest: bytes / requests.length,
        rollupBytes: rolledUp(index).length,
      };
    },
  }),
];

export default entries;
