// Proves, on a clock that the iterations themselves move, what is inside a sample and what is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bench } from './define-bench.ts';
import { timeIterations } from './measure-times.ts';

interface FakeTime {
  nowMs: number;
}

type FakeBench = Bench<FakeTime>;

function fakeBench(parts: Partial<FakeBench> & Pick<FakeBench, 'iteration'>): FakeBench {
  return {
    name: 'fake/bench',
    shape: { rows: 1 },
    warmup: 0,
    iterations: 1,
    setup: () => ({ nowMs: 0 }),
    observe: () => ({ rows: 1 }),
    ...parts,
  };
}

async function timeFake(bench: FakeBench, warmup: number, iterations: number) {
  const state: FakeTime = { nowMs: 0 };
  return timeIterations(bench, state, { warmup, iterations, nowMs: () => state.nowMs });
}

test('samples hold the iteration, not prepare, not the warm-up', async () => {
  const bench = fakeBench({
    prepare: (state) => {
      state.nowMs += 1_000;
    },
    iteration: (state, index) => {
      state.nowMs += index + 1;
    },
  });
  const run = await timeFake(bench, 2, 3);
  assert.deepEqual(run.samples, Float64Array.of(3, 4, 5));
  assert.equal(run.coldMs, 1);
  assert.equal(run.apart.size, 0);
});

test('an asynchronous iteration is timed to its end', async () => {
  const bench = fakeBench({
    prepare: async (state) => {
      await Promise.resolve();
      state.nowMs += 1_000;
    },
    iteration: async (state) => {
      await Promise.resolve();
      state.nowMs += 7;
    },
  });
  const run = await timeFake(bench, 0, 2);
  assert.deepEqual(run.samples, Float64Array.of(7, 7));
  assert.equal(run.coldMs, null);
});

test('iterations set apart are timed apart and do not count', async () => {
  const bench = fakeBench({
    iteration: (state, index) => {
      const isSafetyPass = index % 3 === 2;
      state.nowMs += isSafetyPass ? 100 : 1;
      return isSafetyPass ? { apart: 'safetyPassMs' } : undefined;
    },
  });
  const run = await timeFake(bench, 0, 5);
  assert.deepEqual(run.samples, Float64Array.of(1, 1, 1, 1, 1));
  assert.deepEqual([...run.apart], [['safetyPassMs', [100, 100]]]);
});

test('a bench that sets everything apart ends with an error', async () => {
  const bench = fakeBench({ iteration: () => ({ apart: 'everything' }) });
  await assert.rejects(timeFake(bench, 0, 5), /more iterations set apart than timed/);
});
