// Seeds as work for worker threads: the test runner hooks every promise of its own thread, which
// makes a system that consists of promises twice as slow, and there is more than one core. The first
// failing seed ends the range with a report that says how to see it again.

import { Worker } from 'node:worker_threads';
import { realRuntime } from '@bigfleet/base/real';
import { runSeed, type SeedOptions, type SeedSummary } from './run-seed.ts';
import type { Strike } from './world.ts';

export type SeedRange = (
  | {
      readonly kind: 'seeds';
      readonly first: number;
      readonly count: number;
      /** Every how many seeds the run is repeated and its history compared. */
      readonly replayEvery: number;
    }
  | {
      readonly kind: 'crash-points';
      readonly seed: string;
      readonly host: string;
      readonly steps: readonly number[];
    }
) & {
  /** Real time after which no further seed begins; absent: all of them run. */
  readonly budgetMs?: number;
};

export interface RangeSummary {
  seedCount: number;
  replayCount: number;
  stepCount: number;
  operationCount: number;
  lifeCount: number;
  strikeCount: number;
  duplicateCount: number;
  pauseCount: number;
  incrementalCount: number;
}

function emptySummary(): RangeSummary {
  return {
    seedCount: 0,
    replayCount: 0,
    stepCount: 0,
    operationCount: 0,
    lifeCount: 0,
    strikeCount: 0,
    duplicateCount: 0,
    pauseCount: 0,
    incrementalCount: 0,
  };
}

/** Rejects with the report of the first failing seed. */
export async function runInWorkers(ranges: readonly SeedRange[]): Promise<RangeSummary> {
  const total = emptySummary();
  for (const summary of await Promise.all(ranges.map(runInWorker))) addSummary(total, summary);
  return total;
}

function runInWorker(range: SeedRange): Promise<RangeSummary> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./seed-worker-main.ts', import.meta.url), {
      workerData: range,
      // A world is young when it dies: collected before it is copied twice.
      resourceLimits: { maxYoungGenerationSizeMb: 128 },
    });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', (code) => reject(new Error(`the seed worker left with ${code}`)));
  });
}

export async function runRange(range: SeedRange): Promise<RangeSummary> {
  const total = emptySummary();
  const { clock } = realRuntime();
  const endMs = clock.monotonicMs() + (range.budgetMs ?? Number.POSITIVE_INFINITY);
  if (range.kind === 'crash-points') {
    for (const step of range.steps) {
      if (clock.monotonicMs() >= endMs) break;
      const strikes = [{ step, host: range.host, downMs: DOWN_MS }];
      add(total, await check({ seed: range.seed, isPlain: true, strikes }));
    }
    return total;
  }
  for (let i = 0; i < range.count && clock.monotonicMs() < endMs; i++) {
    const seed = seedName(range.first + i);
    const summary = await check({ seed });
    add(total, summary);
    if (i % range.replayEvery === 0) await replay(seed, summary.hash, total);
  }
  return total;
}

/** How long a process of the sweep stays down. */
const DOWN_MS = 700;

export function seedName(number: number): string {
  return `system-${number}`;
}

async function replay(seed: string, hash: string, total: RangeSummary): Promise<void> {
  const again = await check({ seed });
  total.replayCount += 1;
  if (again.hash !== hash) throw new Error(report({ seed }, 'two histories of one seed differ'));
}

async function check(options: SeedOptions): Promise<SeedSummary> {
  try {
    return await runSeed(options);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new Error(report(options, problem), { cause });
  }
}

function report({ seed, strikes, isPlain }: SeedOptions, problem: string): string {
  const strike: Strike | undefined = isPlain === true ? strikes?.[0] : undefined;
  const where = strike === undefined ? '' : ` ${strike.host}@${strike.step}`;
  const replayCommand = `node test/system/replay-main.ts ${seed}${where}`;
  return `seed ${seed}${where}: ${problem}\nsee it again: ${replayCommand}`;
}

/** The strike that a replay command names: `shard@120`. */
export function parseStrike(text: string): Strike {
  const [host = '', step = ''] = text.split('@');
  if (host === '' || !/^\d+$/.test(step)) throw new Error(`not a crash point: ${text}`);
  return { host, step: Number(step), downMs: DOWN_MS };
}

function add(total: RangeSummary, summary: SeedSummary): void {
  const incrementalCount = summary.listMode === 'incremental' ? 1 : 0;
  addSummary(total, { ...summary, seedCount: 1, replayCount: 0, incrementalCount });
}

function addSummary(total: RangeSummary, part: RangeSummary): void {
  total.seedCount += part.seedCount;
  total.replayCount += part.replayCount;
  total.stepCount += part.stepCount;
  total.operationCount += part.operationCount;
  total.lifeCount += part.lifeCount;
  total.strikeCount += part.strikeCount;
  total.pauseCount += part.pauseCount;
  total.duplicateCount += part.duplicateCount;
  total.incrementalCount += part.incrementalCount;
}
