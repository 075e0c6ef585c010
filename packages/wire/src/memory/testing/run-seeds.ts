// Runs a range of seeds in a worker thread: the test runner hooks every promise of its own
// thread, which makes a system that consists of promises twice as slow.

import { Worker } from 'node:worker_threads';

export interface SeedRange {
  readonly first: bigint;
  readonly count: number;
  /** Every how many seeds the run is repeated and compared. */
  readonly replayEvery: number;
}

export interface SeedSummary {
  readonly seedCount: number;
  readonly replayCount: number;
  /** Calls by status. */
  readonly outcomes: ReadonlyMap<string, number>;
}

/** Rejects with the report of the first failing seed. */
export function runSeeds(range: SeedRange): Promise<SeedSummary> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./seed-worker.ts', import.meta.url), { workerData: range });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the seed worker left with ${code}`)));
  });
}
