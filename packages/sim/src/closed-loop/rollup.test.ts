// Proves the aggregation of capacity requests: what is in the key, what adds, what is maximised.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Resources } from '@bigfleet/engine';
import { buildRollup, type CapacityRequest } from './rollup.ts';
import { profileOf } from './shape.ts';
import { gpuGang, service, tiny } from './shapes.ts';

const resources = (cpu: number, memory: number): Resources =>
  new Map([
    ['cpu', cpu],
    ['memory', memory],
  ]);
const plain = (of: Resources, shape = tiny): CapacityRequest => ({
  profile: profileOf(shape),
  group: '',
  resources: of,
});
const ganged = (group: string): CapacityRequest => ({
  profile: profileOf(gpuGang),
  group,
  resources: gpuGang.perPod,
});

test('resources add and the unit is the maximum of each dimension', () => {
  const [row, ...more] = buildRollup('c', [plain(resources(100, 50)), plain(resources(30, 80))]);
  assert.equal(more.length, 0);
  assert.deepEqual(row?.aggregate, resources(130, 130));
  assert.deepEqual(row?.minUnit, resources(100, 80));
  assert.deepEqual([row?.cluster, row?.group], ['c', '']);
});

test('a missing dimension is zero', () => {
  const [row] = buildRollup('c', [plain(new Map([['cpu', 1]])), plain(new Map([['memory', 2]]))]);
  assert.deepEqual(row?.aggregate, resources(1, 2));
  assert.deepEqual(row?.minUnit, resources(1, 2));
});

const differences: readonly (readonly [string, CapacityRequest])[] = [
  ['requirements', plain(resources(1, 1), { ...tiny, instanceTypes: ['other'] })],
  ['zones', plain(resources(1, 1), { ...tiny, zones: ['zone-a'] })],
  ['priority', plain(resources(1, 1), { ...tiny, priority: 101 })],
  ['interruption bucket', plain(resources(1, 1), { ...tiny, interruptionPenaltyDollars: 64 })],
  ['reclamation bucket', plain(resources(1, 1), { ...tiny, reclamationPenaltyDollars: 65 })],
];
for (const [what, request] of differences) {
  test(`another ${what} is another row`, () => {
    assert.equal(buildRollup('c', [plain(resources(1, 1)), request]).length, 2);
  });
}

test('penalties inside one bucket are one row', () => {
  const near = plain(resources(1, 1), { ...tiny, interruptionPenaltyDollars: 31 });
  assert.equal(buildRollup('c', [plain(resources(1, 1)), near]).length, 1);
});

test('gangs of one profile never merge, their members do', () => {
  const rows = buildRollup('c', [ganged('g2'), ganged('g1'), ganged('g2')]);
  assert.deepEqual(
    rows.map(({ group, aggregate }) => [group, aggregate.get('nvidia.com/gpu')]),
    [
      ['g1', 8000],
      ['g2', 16_000],
    ],
  );
});

test('the order of requests changes nothing, and none make no row', () => {
  const requests = [plain(resources(1, 2)), ganged('g1'), plain(resources(3, 1), service)];
  assert.deepEqual(buildRollup('c', requests), buildRollup('c', [...requests].reverse()));
  assert.deepEqual(buildRollup('c', []), []);
});

test('a gang without a group, or a group without a gang, is a bug', () => {
  assert.throws(() => buildRollup('c', [ganged('')]), { name: 'AssertionError' });
  assert.throws(() => buildRollup('c', [{ ...plain(resources(1, 1)), group: 'g' }]), {
    name: 'AssertionError',
  });
});
