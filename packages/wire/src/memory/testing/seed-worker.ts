// The worker behind run-seeds.ts; nothing imports it.

import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { checkSeed } from './seed-run.ts';
import type { SeedRange, SeedSummary } from './run-seeds.ts';

assert.ok(parentPort !== null, 'this is a worker');
parentPort.postMessage(await runRange(workerData as SeedRange));

async function runRange({ first, count, replayEvery }: SeedRange): Promise<SeedSummary> {
  const outcomes = new Map<string, number>();
  let replayCount = 0;
  for (let i = 0; i < count; i += 1) {
    const replay = i % replayEvery === 0;
    if (replay) replayCount += 1;
    const { echo } = await checkSeed(String(first + BigInt(i)), { replay });
    for (const [code, n] of echo.outcomes) outcomes.set(code, (outcomes.get(code) ?? 0) + n);
  }
  return { seedCount: count, replayCount, outcomes };
}
