// The worker behind seed-range.ts; nothing imports it.

import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { runRange } from './run-range.ts';
import type { RangeResult, SeedRange } from './seed-range.ts';

assert.ok(parentPort !== null, 'this is a worker');
const results: RangeResult[] = [];
for (const range of workerData as readonly SeedRange[]) results.push(await runRange(range));
parentPort.postMessage(results);
