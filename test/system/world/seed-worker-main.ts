// The worker behind seed-range.ts; nothing imports it.

import assert from 'node:assert/strict';
import { parentPort, workerData } from 'node:worker_threads';
import { runRange, type SeedRange } from './seed-range.ts';

// Most errors here are weather; nobody reads their stacks, and a replay has them.
Error.stackTraceLimit = 0;
assert.ok(parentPort !== null, 'this is a worker');
parentPort.postMessage(await runRange(workerData as SeedRange));
