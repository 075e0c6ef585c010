// Proves that the seeds can fail: each planted fault, one broken rule of a shard or of the sagas, or a
// disk that lies under production shards, is noticed by one of the first seeds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DISK_FAULTS,
  LEADER_FAULTS,
  OPERATOR_FAULTS,
  SHARD_FAULTS,
  TOLERATED_FAULTS,
} from './world/planted-fault.ts';
import { runInWorkers, type SeedRange } from './world/seed-range.ts';

const MAX_SEEDS = 1_500;
const TOLERATED_SEEDS = 500;

const models = [...SHARD_FAULTS, ...LEADER_FAULTS, ...OPERATOR_FAULTS].map(
  (fault): SeedRange => ({ kind: 'model', first: 0, count: MAX_SEEDS, fault }),
);
const reals = DISK_FAULTS.map(
  (fault): SeedRange => ({ kind: 'real', first: 0, count: MAX_SEEDS, fault }),
);
const ranges: readonly SeedRange[] = [...models, ...reals];

test(`${ranges.length} planted faults are noticed`, async (t) => {
  const half = Math.ceil(ranges.length / 2);
  const results = await runInWorkers([ranges.slice(0, half), ranges.slice(half)]);
  for (const [index, { failure, seedCount }] of results.entries()) {
    const fault = ranges[index]?.fault;
    assert.notEqual(failure, undefined, `${fault} was not noticed in ${seedCount} seeds`);
    t.diagnostic(`${fault}: ${failure?.split('\n')[0]}`);
  }
});

test('a fault that another rule catches breaks no law', async () => {
  const ranges = TOLERATED_FAULTS.map(
    (fault): SeedRange => ({ kind: 'model', first: 0, count: TOLERATED_SEEDS, fault }),
  );
  for (const { failure } of await runInWorkers([ranges])) assert.equal(failure, undefined, failure);
});
