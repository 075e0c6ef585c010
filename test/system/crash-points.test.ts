// Proves that the shard, a provider and an operator may each die at any externally visible step of a
// calm life, recover from what was durable, and leave no law broken. A share of the steps here, all
// of them in seeds.long.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashPoints } from './world/crash-points.ts';
import { runInWorkers } from './world/seed-range.ts';

const SEED = 'system-sweep-0';
const EVERY = 6;

test(`every ${EVERY}th step of one life, each process in turn`, async (t) => {
  const { hosts, stepCount } = await crashPoints(SEED);
  assert.ok(stepCount > 100, `only ${stepCount} steps`);
  const ranges = hosts.map((host, i) => ({
    kind: 'crash-points' as const,
    seed: SEED,
    host,
    steps: stepsOf(1 + i, stepCount),
  }));
  const total = await runInWorkers(ranges);
  t.diagnostic(`${stepCount} steps; ${JSON.stringify(total)}`);
  assert.equal(
    total.strikeCount,
    ranges.reduce((sum, { steps }) => sum + steps.length, 0),
    'a crash point was never reached',
  );
});

function stepsOf(first: number, stepCount: number): readonly number[] {
  const steps: number[] = [];
  for (let step = first; step <= stepCount; step += EVERY) steps.push(step);
  return steps;
}
