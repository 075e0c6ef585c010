// Proves the machine arithmetic of the catalogue against its worked numbers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { printResources } from '@bigfleet/engine';
import { costRouting } from './cost-routing.ts';
import {
  core,
  gpu,
  gpuInference,
  gpuTrainingMedium,
  memoryCache,
  realistic,
  tinyStateless,
} from './realistic.ts';
import { realisticDev } from './realistic-dev.ts';
import type { Archetype } from './schema.ts';
import {
  effectiveMachines,
  gangFloor,
  isExtendedResource,
  largestRemainder,
  podResources,
  podsPerMachine,
  seedAllocatable,
  seedTiers,
  splitMachines,
} from './sizing.ts';

const { podsPerNode: _pods, ...unpackedInference } = gpuInference;
const { podsPerNode: _tiny, ...unpackedTiny } = tinyStateless;

test('Pods per machine: the archetype’s own, else density for core shapes, else 1', () => {
  assert.equal(podsPerMachine(gpuInference, 10), 8);
  assert.equal(podsPerMachine(unpackedTiny, 10), 10);
  assert.equal(podsPerMachine(unpackedInference, 10), 1);
  assert.deepEqual(
    ['cpu', 'memory', 'ephemeral-storage', 'hugepages-2Mi', 'nvidia.com/gpu'].map(
      isExtendedResource,
    ),
    [false, false, false, false, true],
  );
});

const allocatables: readonly (readonly [string, Archetype, Record<string, string>])[] = [
  ['eight Pods of one GPU', gpuInference, { cpu: '64', memory: '256Gi', 'nvidia.com/gpu': '8' }],
  ['unpacked: one Pod', unpackedInference, { cpu: '8', memory: '32Gi', 'nvidia.com/gpu': '1' }],
];
for (const [what, archetype, want] of allocatables) {
  test(`allocatable of ${what}`, () => {
    const perPod = podResources(gpu('8', '32Gi', '1'));
    const allocatable = seedAllocatable(perPod, archetype, 100);
    assert.deepEqual(Object.fromEntries(printResources(allocatable)), want);
  });
}

test('allocatable of a core shape follows the density', () => {
  const allocatable = seedAllocatable(podResources(core('400m', '512Mi')), unpackedTiny, 10);
  assert.deepEqual(Object.fromEntries(printResources(allocatable)), { cpu: '4', memory: '5Gi' });
});

test('gang floor: the largest gang in every zone, none for bursts and plain shapes', () => {
  assert.equal(gangFloor(gpuTrainingMedium), 48);
  assert.equal(gangFloor(memoryCache), 15);
  assert.equal(gangFloor(tinyStateless), 0);
  const large = realistic.archetypes.find(({ burstOnly }) => burstOnly === true);
  assert.ok(large !== undefined);
  assert.equal(gangFloor(large), 0);
});

const remainders: readonly (readonly [readonly number[], number, readonly number[]])[] = [
  [[1, 1, 1], 10, [4, 3, 3]],
  [[0.5, 0.3, 0.2], 7, [4, 2, 1]],
  [[1], 5, [5]],
  [[3, 1], 0, [0, 0]],
  [[2, 1, 1], 2, [1, 1, 0]],
];
for (const [shares, total, want] of remainders) {
  test(`largest remainder of ${total} over ${shares.join(':')}`, () => {
    assert.deepEqual(largestRemainder(shares, total), want);
  });
}

test('a split sums to the total before floors, and floors come on top', () => {
  const split = splitMachines(realistic.archetypes, 10_000, 100);
  const counts = new Map(
    split.map(({ archetype, machineCount }) => [archetype.name, machineCount]),
  );
  assert.equal(counts.get('tiny-stateless'), 6643);
  assert.equal(counts.get('memory-cache'), 155);
  assert.equal(counts.has('gpu-training-large'), false);
  const sum = [...counts.values()].reduce((a, b) => a + b, 0);
  assert.equal(sum, 10_000);
  const small = splitMachines(realistic.archetypes, 50, 100);
  const smallSum = small.reduce((a, { machineCount }) => a + machineCount, 0);
  assert.equal(smallSum, 33 + 6 + 3 + 3 + 15 + 15 + 24 + 48);
});

test('50 nominal machines of the dev catalogue are 610 effective ones', () => {
  assert.equal(effectiveMachines(realisticDev.archetypes, 50 * 100, 100), 610);
  assert.equal(effectiveMachines(costRouting.archetypes, 100, 10), 10);
});

test('tiers: Configured split over clusters, Idle and Speculative over shards', () => {
  const common = { effectiveMachines: 610, clusterCount: 4, shardCount: 2 };
  assert.deepEqual(
    seedTiers({
      ...common,
      configuredFraction: 1,
      idleHeadroomFraction: 0.1,
      speculative: { multiplier: 5 },
    }),
    { configuredPerCluster: [153, 153, 152, 152], idlePerShard: 31, speculativePerShard: 1525 },
  );
  const absolute = seedTiers({
    ...common,
    configuredFraction: 0.5,
    idleHeadroomFraction: 0,
    speculative: { perShard: 7 },
  });
  assert.deepEqual(absolute.configuredPerCluster, [77, 76, 76, 76]);
  assert.deepEqual([absolute.idlePerShard, absolute.speculativePerShard], [0, 7]);
});
