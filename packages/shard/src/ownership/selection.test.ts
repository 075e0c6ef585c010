// Proves who is given away: each condition of donor resolution (coordinator §9.4), the order among
// those that qualify, where the choice stops, and that only cheaper and less urgent work is drained.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PINNED_BUCKET, type PenaltyBucket, ZERO_BUCKET } from '@bigfleet/base';
import { type Machine, Operator } from '@bigfleet/engine';
import {
  MAX_MACHINES_PER_STEP,
  type MachineSelector,
  resolveTransfer,
  resolveVictims,
} from './selection.ts';
import { idle, selector, serving } from './testing/builders.ts';

const nobody = (): boolean => false;
const bucket = (number: number): PenaltyBucket => number as PenaltyBucket;
const stamped = (id: string, reclamation: number): Machine => {
  const machine = idle(id);
  return { ...machine, assigned: { ...machine.assigned, reclamationBucket: bucket(reclamation) } };
};

const conditions: readonly (readonly [
  string,
  Partial<Machine>,
  Partial<MachineSelector>,
  boolean,
])[] = [
  ['anything goes', {}, {}, true],
  ['instance type', {}, { instanceType: 'small' }, true],
  ['another instance type', {}, { instanceType: 'large' }, false],
  ['zone', {}, { zone: 'zone-a' }, true],
  ['another zone', {}, { zone: 'zone-b' }, false],
  ['min_unit does not fit', {}, { minUnit: new Map([['cpu', 5_000]]) }, false],
  ['min_unit in a dimension it lacks', {}, { minUnit: new Map([['gpu', 1]]) }, false],
  [
    'a requirement',
    {},
    { requirements: [{ key: 'pool', operator: Operator.In, values: ['general'] }] },
    true,
  ],
  [
    'a requirement it fails',
    {},
    { requirements: [{ key: 'pool', operator: Operator.In, values: ['gpu'] }] },
    false,
  ],
  [
    'interruptible for pinned demand',
    { interruptionProbability: 0.01 },
    { interruptionBucket: PINNED_BUCKET },
    false,
  ],
  ['safe for pinned demand', {}, { interruptionBucket: PINNED_BUCKET }, true],
  [
    'interruptible for other demand',
    { interruptionProbability: 0.5 },
    { interruptionBucket: bucket(26) },
    true,
  ],
  ['adds nothing to what is missing', {}, { deficit: new Map([['gpu', 1]]) }, false],
];
for (const [name, machine, wanted, isTaken] of conditions) {
  test(`${name}: ${isTaken ? 'taken' : 'left'}`, () => {
    const { machineIds } = resolveTransfer([idle('m', machine)], selector(wanted), nobody);
    assert.deepEqual(machineIds, isTaken ? ['m'] : []);
  });
}

test('reserved for this recipient first, then the lowest reclamation penalty, then by id', () => {
  const machines = [stamped('d', 1), stamped('a', 5), stamped('c', PINNED_BUCKET), stamped('b', 1)];
  const all = selector({ deficit: new Map([['cpu', 100_000]]) });
  const { machineIds } = resolveTransfer(machines, all, (id) => id === 'c');
  assert.deepEqual(machineIds, ['c', 'b', 'd', 'a']);
});

test('until the deficit is covered, or the count reached, and never beyond the bound', () => {
  const machines = Array.from({ length: 80 }, (_, at) => idle(`m${String(at).padStart(2, '0')}`));
  const two = resolveTransfer(machines, selector(), nobody);
  assert.deepEqual(two.machineIds, ['m00', 'm01']);
  assert.deepEqual([...two.covered], [['cpu', 8_000]]);
  const endless = new Map([['cpu', 1e9]]);
  const three = resolveTransfer(machines, selector({ deficit: endless, count: 3 }), nobody);
  assert.equal(three.machineIds.length, 3);
  const most = resolveTransfer(machines, selector({ deficit: endless, count: 80 }), nobody);
  assert.equal(most.machineIds.length, MAX_MACHINES_PER_STEP);
  const none = resolveTransfer(machines, selector({ count: 0 }), nobody);
  assert.deepEqual(none.machineIds, []);
});

const PREEMPTOR = { priority: 1_000, interruptionBucket: bucket(10) };
const stampOf = ({ assigned }: Machine): number => assigned.priority;

const victims: readonly (readonly [string, Machine, boolean])[] = [
  ['lower in both', serving('v', { priority: 999, interruption: 9 }), true],
  ['equal priority', serving('v', { priority: 1_000 }), false],
  ['higher priority', serving('v', { priority: 1_001 }), false],
  ['equal penalty', serving('v', { interruption: 10 }), false],
  ['higher penalty', serving('v', { interruption: 11 }), false],
];
for (const [name, machine, isTaken] of victims) {
  test(`victim with ${name}: ${isTaken ? 'drained' : 'left alone'}`, () => {
    const { machineIds } = resolveVictims([machine], selector(), PREEMPTOR, stampOf);
    assert.deepEqual(machineIds, isTaken ? ['v'] : []);
  });
}

test('what claims a victim protects it, not only its stamp', () => {
  const { machineIds } = resolveVictims([serving('v')], selector(), PREEMPTOR, () => 2_000);
  assert.deepEqual(machineIds, []);
});

test('victims by the ordinary score: the widest gap and the lowest penalties first', () => {
  const machines = [
    serving('near', { priority: 900 }),
    serving('dear', { priority: 100, reclamation: 20 }),
    serving('best', { priority: 100, reclamation: ZERO_BUCKET }),
  ];
  const all = selector({ deficit: new Map([['cpu', 100_000]]) });
  const { machineIds } = resolveVictims(machines, all, PREEMPTOR, stampOf);
  assert.deepEqual(machineIds, ['best', 'dear', 'near']);
});

test('zero penalty demand drains nobody', () => {
  const cheap = { priority: 1_000, interruptionBucket: ZERO_BUCKET };
  assert.deepEqual(resolveVictims([serving('v')], selector(), cheap, stampOf).machineIds, []);
});
