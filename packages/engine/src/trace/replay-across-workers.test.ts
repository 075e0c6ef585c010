// Proves that one trace replays to the same hashes in the main thread and in any number of
// worker threads that run at the same time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { replay } from './replay.ts';
import { randomRun } from './testing/random-run.ts';

if (isMainThread) {
  test('the same trace gives the same hashes in 0, 1, 2 and 3 workers', async () => {
    const trace = randomRun('workers', { cycleCount: 40, maxMachines: 60, maxNeeds: 30 }).trace;
    const here = replay(trace);
    assert.equal(here.outcome, 'identical');
    assert.ok(new Set(here.hashes).size > 20);
    for (const workerCount of [1, 2, 3]) {
      const there = await Promise.all(Array.from({ length: workerCount }, () => inWorker(trace)));
      for (const hashes of there) assert.deepEqual(hashes, here.hashes);
    }
  });
} else {
  parentPort?.postMessage(replay(workerData as Uint8Array, { mode: 'incremental' }).hashes);
}

function inWorker(trace: Uint8Array): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: trace });
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the worker ended without an answer')));
  });
}
