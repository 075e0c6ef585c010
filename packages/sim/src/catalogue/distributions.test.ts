// Proves that each law draws what it says: bands, ranges, means, clamps, and streams that replay.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom, type Random } from '@bigfleet/base';
import { printSeed, SCENARIO_SEED } from '../seeds.ts';
import {
  drawLifetimeSeconds,
  drawPriority,
  drawReplicas,
  drawSize,
  drawSpread,
  meanReplicas,
  objectKindOf,
  REPLICA_BANDS,
  STATEFUL_REPLICAS_MAX,
  uniformInt,
  weightedPick,
} from './distributions.ts';
import {
  cpuBatch,
  cpuService,
  gpuTrainingMedium,
  gpuTrainingSmall,
  memoryCache,
  tinyStateless,
} from './realistic.ts';
import type { Archetype } from './schema.ts';

const COUNT = 100_000;
const seeded = (name: string): Random => createRandom(SCENARIO_SEED).stream(name);
const draws = <T>(name: string, draw: (random: Random) => T): T[] => {
  const random = seeded(name);
  return Array.from({ length: COUNT }, () => draw(random));
};
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function assertNear(got: number, want: number, tolerance: number, what: string): void {
  const message = `${what}: ${got} is not within ${tolerance} of ${want} (${printSeed(SCENARIO_SEED)})`;
  assert.ok(Math.abs(got - want) <= tolerance, message);
}

const { sameRack: _rack, groupSizeRange: _range, allowPartial: _partial, ...loose } = memoryCache;
const statefulWithoutGang: Archetype = loose;

test('replicas: mean 21.375, each band with its share and inside its ends', () => {
  assert.equal(meanReplicas(tinyStateless), 21.375);
  const replicas = draws('replicas', (random) => drawReplicas(random, tinyStateless));
  assertNear(mean(replicas), 21.375, 0.5, 'mean');
  for (const { percent, lo, hi } of REPLICA_BANDS) {
    const inside = replicas.filter((count) => count >= lo && count <= hi);
    assertNear((inside.length / COUNT) * 100, percent, 0.6, `band ${lo}–${hi}`);
    assertNear(mean(inside), (lo + hi) / 2, (hi - lo) / 20, `mean of band ${lo}–${hi}`);
  }
  assert.equal(Math.min(...replicas), 1);
  assert.equal(Math.max(...replicas), 400);
});

test('stateful workloads are StatefulSets, clamped to 25 replicas', () => {
  assert.equal(objectKindOf(memoryCache), 'StatefulSet');
  assert.equal(objectKindOf(tinyStateless), 'Deployment');
  const replicas = draws('stateful', (random) => drawReplicas(random, statefulWithoutGang));
  assert.equal(Math.max(...replicas), STATEFUL_REPLICAS_MAX);
  assert.equal(meanReplicas(statefulWithoutGang), 0.55 * 3 + 0.3 * 15.5 + 0.15 * 25);
  assertNear(mean(replicas), meanReplicas(statefulWithoutGang), 0.1, 'clamped mean');
});

for (const gang of [memoryCache, gpuTrainingSmall, gpuTrainingMedium]) {
  test(`gang sizes of ${gang.name} are uniform over their range`, () => {
    const [lo, hi] = gang.groupSizeRange ?? [0, 0];
    const sizes = draws(gang.name, (random) => drawReplicas(random, gang));
    assert.equal(meanReplicas(gang), (lo + hi) / 2);
    for (let size = lo; size <= hi; size++) {
      const share = sizes.filter((drawn) => drawn === size).length / COUNT;
      assertNear(share, 1 / (hi - lo + 1), 0.01, `size ${size}`);
    }
    assert.ok(sizes.every((size) => size >= lo && size <= hi));
  });
}

test('sizes by weight, priorities uniform, spread by probability', () => {
  const sizes = draws('sizes', (random) => drawSize(random, tinyStateless)['cpu']);
  assertNear(sizes.filter((cpu) => cpu === '400m').length / COUNT, 0.6, 0.01, '400m');
  const twoClasses: Archetype = { ...cpuService, priorityClasses: [100, 1000] };
  const priorities = draws('priorities', (random) => drawPriority(random, twoClasses));
  assertNear(priorities.filter((priority) => priority === 100).length / COUNT, 0.5, 0.01, '100');
  const spreads = draws('spread', (random) => drawSpread(random, cpuService));
  assertNear(spreads.filter((spread) => spread !== undefined).length / COUNT, 0.75, 0.01, 'spread');
  assert.equal(drawSpread(seeded('none'), memoryCache), undefined);
});

test('lifetimes: exponential with the stated mean, immortal at 0', () => {
  const lifetimes = draws('lifetimes', (random) => drawLifetimeSeconds(random, cpuBatch));
  assertNear(mean(lifetimes), 600, 10, 'mean lifetime');
  const overMean = lifetimes.filter((seconds) => seconds > 600).length / COUNT;
  assertNear(overMean, Math.exp(-1), 0.01, 'share above the mean');
  assert.equal(drawLifetimeSeconds(seeded('x'), tinyStateless), Number.POSITIVE_INFINITY);
});

test('the same seed draws the same, and the ends of a range are drawn', () => {
  const run = (): number[] => draws('replay', (random) => uniformInt(random, 3, 5)).slice(0, 50);
  assert.deepEqual(run(), run());
  assert.deepEqual(
    [...new Set(run())].sort((a, b) => a - b),
    [3, 4, 5],
  );
  assert.equal(weightedPick(seeded('one'), [{ weight: 1 }]).weight, 1);
});
