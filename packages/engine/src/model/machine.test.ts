// Proves that a machine record is refused with its reason code exactly when it violates an
// invariant, first violation first.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectiveCost } from '@bigfleet/base';
import { machine, type StateName } from '../testing/build.ts';
import type { CapacityTypeCode } from './capacity-type.ts';
import { type Assignment, type Machine, machineProblem, noAssignment } from './machine.ts';
import { State, type StateCode } from './state.ts';

const HOST = { provider: 'provider', ref: 'host' };

const STATES: readonly StateName[] = [
  'Speculative',
  'Creating',
  'Idle',
  'Configuring',
  'Configured',
  'Draining',
  'Deleting',
  'Failed',
];

function inState(state: StateName, changes: Partial<Machine> = {}): Machine {
  return { ...machine({ id: 'm', state }), ...changes };
}

test('a valid record of every state is accepted', () => {
  for (const state of STATES) assert.equal(machineProblem(inState(state)), undefined, state);
});

test('host and cluster must fit the state', () => {
  const rows: readonly [StateName, Partial<Machine>][] = [
    ['Speculative', { host: HOST }],
    ['Speculative', { cluster: 'a' }],
    ['Creating', { host: HOST }],
    ['Creating', { cluster: 'a' }],
    ['Idle', { host: undefined }],
    ['Idle', { cluster: 'a' }],
    ['Configuring', { host: undefined }],
    ['Configuring', { cluster: '' }],
    ['Configured', { host: undefined }],
    ['Configured', { cluster: '' }],
    ['Draining', { host: undefined }],
    ['Draining', { cluster: '' }],
    ['Deleting', { host: undefined }],
    ['Deleting', { cluster: 'a' }],
  ];
  for (const [state, changes] of rows) {
    const where = `${state} with ${JSON.stringify(changes)}`;
    assert.equal(machineProblem(inState(state, changes)), 'structural', where);
  }
});

test('a host of two empty strings is no host; either string makes it one', () => {
  const empty = { provider: '', ref: '' };
  assert.equal(machineProblem(inState('Idle', { host: empty })), 'structural');
  assert.equal(machineProblem(inState('Speculative', { host: empty })), undefined);
  for (const host of [
    { provider: 'p', ref: '' },
    { provider: '', ref: 'r' },
  ]) {
    assert.equal(machineProblem(inState('Idle', { host })), undefined);
    assert.equal(machineProblem(inState('Speculative', { host })), 'structural');
  }
});

test('Failed accepts any binding and needs an error text', () => {
  for (const host of [undefined, HOST]) {
    for (const cluster of ['', 'a']) {
      assert.equal(machineProblem(inState('Failed', { host, cluster })), undefined);
      const silent = inState('Failed', { host, cluster, lastError: '' });
      assert.equal(machineProblem(silent), 'structural');
    }
  }
});

test('Creating may carry attribution', () => {
  const assigned = { ...noAssignment, needFingerprint: 'p=0|…', group: 'g' };
  const creating = inState('Creating', { assigned, intendedCluster: 'a' });
  assert.equal(machineProblem(creating), undefined);
});

test('an id is required', () => {
  assert.equal(machineProblem(inState('Idle', { id: '' })), 'structural');
});

test('only real states and capacity types enter', () => {
  for (const value of [0, -1, 1.5, 9, 255, Number.NaN]) {
    const state = value as StateCode;
    assert.equal(machineProblem({ ...inState('Idle'), state }), 'structural', `state ${value}`);
  }
  for (const value of [0, -1, 2.5, 5, 255, Number.NaN]) {
    const capacityType = value as CapacityTypeCode;
    assert.equal(machineProblem({ ...inState('Idle'), capacityType }), 'structural', `${value}`);
  }
});

test('the zero record is invalid', () => {
  const zero: Machine = {
    id: '',
    state: State.Unspecified as number as StateCode,
    provider: '',
    host: undefined,
    cluster: '',
    instanceType: '',
    zone: '',
    capacityType: 0 as number as CapacityTypeCode,
    labels: new Map(),
    allocatable: new Map(),
    pricePerHour: 0,
    interruptionProbability: 0,
    lastError: '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
  };
  assert.equal(machineProblem(zero), 'structural');
});

test('price and probability are numbers in their ranges, in every state', () => {
  const prices: readonly [number, 'price' | undefined][] = [
    [Number.NaN, 'price'],
    [-0.01, 'price'],
    [Number.NEGATIVE_INFINITY, 'price'],
    [Number.POSITIVE_INFINITY, 'price'],
    [0, undefined],
    [-0, undefined],
    [Number.MIN_VALUE, undefined],
    [Number.MAX_VALUE, undefined],
  ];
  const probabilities: readonly [number, 'interruption_probability' | undefined][] = [
    [-0.1, 'interruption_probability'],
    [1.1, 'interruption_probability'],
    [Number.NaN, 'interruption_probability'],
    [Number.POSITIVE_INFINITY, 'interruption_probability'],
    [0, undefined],
    [1, undefined],
  ];
  for (const state of STATES) {
    for (const [pricePerHour, expected] of prices) {
      assert.equal(machineProblem(inState(state, { pricePerHour })), expected, `${pricePerHour}`);
    }
    for (const [interruptionProbability, expected] of probabilities) {
      const record = inState(state, { interruptionProbability });
      assert.equal(machineProblem(record), expected, `${interruptionProbability}`);
    }
  }
});

test('a stamp outside its ranges is refused: a column would turn it into another value', () => {
  const stamps: readonly [keyof Assignment, number, 'structural' | undefined][] = [
    ['priority', 2 ** 31 - 1, undefined],
    ['priority', -(2 ** 31), undefined],
    ['priority', 2 ** 31, 'structural'],
    ['priority', -(2 ** 31) - 1, 'structural'],
    ['priority', 0.5, 'structural'],
    ['priority', Number.NaN, 'structural'],
    ['interruptionBucket', 1, undefined],
    ['interruptionBucket', 27, undefined],
    ['interruptionBucket', 0, 'structural'],
    ['interruptionBucket', 28, 'structural'],
    ['reclamationBucket', 257, 'structural'],
    ['reclamationBucket', 1.5, 'structural'],
    ['reclamationBucket', Number.NaN, 'structural'],
  ];
  for (const [field, value, expected] of stamps) {
    const assigned = { ...noAssignment, [field]: value };
    assert.equal(
      machineProblem(inState('Configured', { assigned })),
      expected,
      `${field} ${value}`,
    );
  }
});

test('the first violation wins: structure, error text, probability, price', () => {
  const bad = { pricePerHour: -1, interruptionProbability: 2 };
  assert.equal(machineProblem(inState('Idle', { ...bad, host: undefined })), 'structural');
  assert.equal(machineProblem(inState('Failed', { ...bad, lastError: '' })), 'structural');
  assert.equal(machineProblem(inState('Idle', bad)), 'interruption_probability');
  assert.equal(machineProblem(inState('Idle', { pricePerHour: -1 })), 'price');
});

test('a negative penalty clamps to zero in the effective cost', () => {
  assert.equal(effectiveCost(1.5, 0.5, -100), 1.5);
  assert.equal(effectiveCost(1.5, 0.5, Number.NEGATIVE_INFINITY), 1.5);
});
