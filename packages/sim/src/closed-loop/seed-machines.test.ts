// Proves the seeded inventory: tiers with their terms, racks by layout, stamps on what is bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CapacityType, type Machine, machineProblem, State } from '@bigfleet/engine';
import { RACK_KEY } from '../catalogue/schema.ts';
import { seedMachines, type ShapeSeed } from './seed-machines.ts';
import { profileOf } from './shape.ts';
import { gpuGang, tiny } from './shapes.ts';

const racksOf = (machines: readonly Machine[]): (string | undefined)[] =>
  machines.map(({ labels }) => labels.get(RACK_KEY));

const full: ShapeSeed = {
  shape: tiny,
  density: 10,
  configuredPerCluster: 2,
  idle: [{ count: 1 }, { count: 1, capacityType: CapacityType.Reserved, pricePerHour: 0.5 }],
  speculative: [
    { count: 1 },
    { count: 1, capacityType: CapacityType.Spot, pricePerHour: 0.3, interruptionProbability: 0.3 },
  ],
};

test('tiers carry their terms, owned ones free of charge by default', () => {
  const rows = seedMachines(full, ['a', 'b']).map(
    ({ id, state, capacityType, pricePerHour, interruptionProbability }) =>
      [id, state, capacityType, pricePerHour, interruptionProbability].join(' '),
  );
  assert.deepEqual(rows, [
    'tiny-stateless-a-001 5 1 0 0',
    'tiny-stateless-a-002 5 1 0 0',
    'tiny-stateless-b-001 5 1 0 0',
    'tiny-stateless-b-002 5 1 0 0',
    'tiny-stateless-idle1-001 3 1 0 0',
    'tiny-stateless-idle2-001 3 2 0.5 0',
    'tiny-stateless-spec1-001 1 3 1 0',
    'tiny-stateless-spec2-001 1 4 0.3 0.3',
  ]);
});

test('every record is valid and as big as its density', () => {
  for (const machine of seedMachines(full, ['a'])) {
    assert.equal(machineProblem(machine), undefined, machine.id);
    assert.equal(machine.allocatable.get('cpu'), 4000);
  }
});

test('bound machines are stamped with the plain need they serve, gangs are left open', () => {
  const [plain] = seedMachines(full, ['a']);
  assert.equal(plain?.assigned.needFingerprint, profileOf(tiny).fingerprint);
  assert.equal(plain?.assigned.priority, tiny.priority);
  const [gang] = seedMachines({ ...full, shape: gpuGang }, ['a']);
  assert.deepEqual([gang?.assigned.needFingerprint, gang?.assigned.group], ['', '']);
  assert.equal(gang?.assigned.priority, gpuGang.priority);
  const idle = seedMachines(full, ['a']).find(({ state }) => state === State.Idle);
  assert.equal(idle?.assigned.needFingerprint, '');
});

test('round-robin visits every zone, then the next racks', () => {
  const machines = seedMachines(
    { shape: gpuGang, density: 1, racksPerZone: 2, idle: [{ count: 7 }] },
    [],
  );
  assert.deepEqual(racksOf(machines), [
    'zone-a-rack-1',
    'zone-b-rack-1',
    'zone-c-rack-1',
    'zone-a-rack-2',
    'zone-b-rack-2',
    'zone-c-rack-2',
    'zone-a-rack-1',
  ]);
  assert.deepEqual(machines.map(({ zone }) => zone).slice(0, 3), ['zone-a', 'zone-b', 'zone-c']);
});

test('blocks keep neighbours in one rack, from cluster to cluster', () => {
  const machines = seedMachines(
    { shape: gpuGang, density: 1, contiguousRackBlock: 2, configuredPerCluster: 2 },
    ['a', 'b'],
  );
  assert.deepEqual(racksOf(machines), [
    'zone-a-rack-1',
    'zone-a-rack-1',
    'zone-b-rack-1',
    'zone-b-rack-1',
  ]);
});
