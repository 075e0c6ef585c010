// Seeds as work for worker threads: the test runner hooks every promise of its own thread, which
// makes a system that consists of promises twice as slow, and there is more than one core. A worker
// takes several ranges, because loading the whole system takes longer than a hundred seeds; for the
// same reason nothing here imports it.

import { Worker } from 'node:worker_threads';
import type { PlantedFault } from './planted-fault.ts';
import type { Tally } from './tally.ts';
import type { ShardKind } from './world.ts';

export interface SeedRange {
  readonly kind: ShardKind;
  readonly first: number;
  readonly count: number;
  readonly fault?: PlantedFault;
  /** Real time after which no further seed begins; absent: all of them run. */
  readonly budgetMs?: number;
}

export interface RangeResult {
  readonly kind: ShardKind;
  readonly seedCount: number;
  readonly tally: Tally;
  /** The first seed that broke a law, and how. */
  readonly failure: string | undefined;
}

/** One worker per list; the results are in the order of all ranges. */
export async function runInWorkers(
  lists: readonly (readonly SeedRange[])[],
): Promise<readonly RangeResult[]> {
  return (await Promise.all(lists.map(runInWorker))).flat();
}

/** The seeds of a range, divided over so many workers. */
export function divided(range: SeedRange, workers: number): readonly SeedRange[] {
  const share = Math.ceil(range.count / workers);
  return Array.from({ length: workers }, (_, at) => ({
    ...range,
    first: range.first + at * share,
    count: Math.max(0, Math.min(share, range.count - at * share)),
  }));
}

function runInWorker(ranges: readonly SeedRange[]): Promise<readonly RangeResult[]> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./seed-worker-main.ts', import.meta.url), {
      workerData: ranges,
    });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the seed worker left with ${code}`)));
  });
}
