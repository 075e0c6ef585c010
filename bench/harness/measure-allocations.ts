// allocBytesPerOp: growth of heap and external memory across iterations between which no garbage
// was collected, because a collection in between would hide what was allocated.
//
// Needs a process started with ALLOCATION_FLAGS: a semi-space large enough to hold a batch, forced
// collection before it, and V8 on one thread (background sweeping moved readings by ±700 KB per
// batch; with it off they repeat to the byte). `prepare` and iterations set apart are not counted.
// A batch that saw a collection is thrown away and halved; when even one iteration collects, the
// answer is null, never a guess.

import { setImmediate as turn } from 'node:timers/promises';
import { PerformanceObserver } from 'node:perf_hooks';
import type { Bench } from './define-bench.ts';
import { median } from './percentiles.ts';

const SEMI_SPACE_MIB = 512;
const MAX_BATCH = 1_000;

export const ALLOCATION_FLAGS: readonly string[] = [
  '--expose-gc',
  '--single-threaded',
  `--min-semi-space-size=${SEMI_SPACE_MIB}`,
  `--max-semi-space-size=${SEMI_SPACE_MIB}`,
];

export interface AllocationOptions {
  readonly warmup: number;
  readonly iterations: number;
}

export async function measureAllocations<State>(
  bench: Bench<State>,
  state: State,
  { warmup, iterations }: AllocationOptions,
): Promise<number | null> {
  const meter = createMeter();
  let index = 0;
  const measureOne = async (): Promise<number | undefined> => {
    await bench.prepare?.(state, index);
    meter.start();
    const returned = bench.iteration(state, index++);
    const outcome = returned instanceof Promise ? await returned : returned;
    const grownBytes = meter.stop();
    return outcome?.apart === undefined ? grownBytes : undefined;
  };
  while (index < warmup) await measureOne();

  const collections = watchCollections();
  try {
    await collections.settle();
    const probedBytes = (await measureOne()) ?? 0;
    for (let size = batchSize(probedBytes, iterations); size >= 1; size = Math.floor(size / 2)) {
      const perIteration = await measureBatch(size, measureOne, collections);
      if (perIteration !== undefined) {
        return Math.max(0, perIteration / (bench.opsPerIteration ?? 1));
      }
    }
    return null;
  } finally {
    collections.stop();
  }
}

/** Half of the semi-space, by the probe; a probe that was itself collected says nothing. */
function batchSize(probedBytes: number, iterations: number): number {
  const fitting = Math.floor((SEMI_SPACE_MIB * 2 ** 19) / Math.max(1, probedBytes));
  return Math.max(1, Math.min(iterations, MAX_BATCH, fitting));
}

/** Mean growth of a batch, or undefined when something was collected meanwhile. */
async function measureBatch(
  size: number,
  measureOne: () => Promise<number | undefined>,
  collections: CollectionWatch,
): Promise<number | undefined> {
  await collections.settle();
  const seenBefore = collections.count();
  let totalBytes = 0;
  let countedCount = 0;
  for (let step = 0; step < size; step++) {
    const grownBytes = await measureOne();
    if (grownBytes === undefined) continue;
    totalBytes += grownBytes;
    countedCount++;
  }
  await collections.flush();
  if (collections.count() !== seenBefore || countedCount === 0) return undefined;
  return totalBytes / countedCount;
}

interface Meter {
  start(): void;
  stop(): number;
}

function createMeter(): Meter {
  const readings = new Float64Array(2);
  // Held outside, so that the optimiser cannot drop the reading object and change its cost.
  const held: { usage: NodeJS.MemoryUsage } = { usage: process.memoryUsage() };
  const read = (slot: number): void => {
    held.usage = process.memoryUsage();
    readings[slot] = held.usage.heapUsed + held.usage.external;
  };
  const difference = (): number => (readings[1] ?? 0) - (readings[0] ?? 0);

  const empty: number[] = [];
  for (let round = 0; round < 5_000; round++) {
    read(0);
    read(1);
    if (round >= 4_800) empty.push(difference());
  }
  const ownBytes = median(empty);
  return {
    start: () => read(0),
    stop: () => {
      read(1);
      return difference() - ownBytes;
    },
  };
}

interface CollectionWatch {
  count(): number;
  /** Collects everything now, then waits until the observer has heard of it. */
  settle(): Promise<void>;
  flush(): Promise<void>;
  stop(): void;
}

function watchCollections(): CollectionWatch {
  const collect = globalThis.gc;
  if (collect === undefined) throw new Error('measuring allocations needs node --expose-gc');
  let seen = 0;
  const observer = new PerformanceObserver((list) => {
    seen += list.getEntries().length;
  });
  observer.observe({ entryTypes: ['gc'] });
  // Entries are delivered from later turns of the event loop: two are needed, four are waited for.
  const flush = async (): Promise<void> => {
    for (let count = 0; count < 4; count++) await turn();
  };
  return {
    count: () => seen,
    settle: async () => {
      collect();
      collect();
      await flush();
    },
    flush,
    stop: () => observer.disconnect(),
  };
}
