// Proves that reconcile hears of every write that was not its own, once, and of every machine whose
// truth only its provider can tell.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime } from '@bigfleet/base';
import { drainMicrotasks } from '@bigfleet/base/real';
import { CapacityType, type Machine, noAssignment, State, type StateCode } from '@bigfleet/engine';
import { createInlineHost } from '../engine-host/inline-host.ts';
import { Fleet } from './fleet.ts';

const HOST = { provider: 'host', ref: 'h' };

function machine(id: string, state: StateCode, provider: string): Machine {
  return {
    id,
    state,
    provider,
    host: state === State.Speculative ? undefined : HOST,
    cluster: '',
    instanceType: 'small',
    zone: 'z',
    capacityType: CapacityType.OnDemand,
    labels: new Map(),
    allocatable: new Map([['cpu', 4]]),
    pricePerHour: 1,
    interruptionProbability: 0,
    lastError: '',
    assigned: noAssignment,
    intendedCluster: '',
    withheld: undefined,
  };
}

function stocked(...machines: readonly Machine[]): Fleet {
  const { runtime } = createVirtualRuntime({ seed: 1n, drain: drainMicrotasks });
  const { machines: feed } = createInlineHost(runtime);
  const fleet = new Fleet({ feed, clock: runtime.clock, onNodeChange: () => {} });
  const changes = machines.map((inserted) => ({
    kind: 'inserted' as const,
    machine: inserted,
    skipped: [],
  }));
  fleet.apply({ changes, rejected: [] });
  return fleet;
}

const nothing = { touched: [], doubted: [] };

test('what reconcile applied itself is no news to it', () => {
  const fleet = stocked(machine('a', State.Idle, 'p'));
  assert.deepEqual(fleet.takeWrites('p'), nothing);
});

test('moves and answers are told once, to the reconcile of their provider', () => {
  const fleet = stocked(
    machine('a', State.Idle, 'p'),
    machine('b', State.Idle, 'p'),
    machine('c', State.Idle, 'q'),
  );
  const { inventory } = fleet;
  fleet.move(inventory.slotOf('a'), State.Deleting);
  fleet.observe(machine('b', State.Deleting, 'p'));
  fleet.move(inventory.slotOf('c'), State.Deleting);
  assert.deepEqual(fleet.takeWrites('p'), { touched: ['a', 'b'], doubted: [] });
  assert.deepEqual(fleet.takeWrites('p'), nothing);
  assert.deepEqual(fleet.takeWrites('q'), { touched: ['c'], doubted: [] });
});

test('a machine that we declared Failed, and one that was given up on, are in doubt', () => {
  const fleet = stocked(machine('a', State.Deleting, 'p'), machine('b', State.Deleting, 'p'));
  fleet.fail(fleet.inventory.slotOf('a'), 'delete: no');
  fleet.doubt(fleet.inventory.slotOf('b'));
  assert.deepEqual(fleet.takeWrites('p'), { touched: ['a', 'b'], doubted: ['a', 'b'] });
});

test('an answer with more resource names than there is room for is a fact all the same', () => {
  const fleet = stocked(machine('a', State.Idle, 'p'));
  const names = Array.from({ length: 128 }, (_, at): [string, number] => [`r${at}`, 1]);
  fleet.observe({ ...machine('a', State.Deleting, 'p'), allocatable: new Map(names) });
  const { state, allocatable } = fleet.read(fleet.inventory.slotOf('a'));
  assert.equal(state, State.Deleting);
  assert.deepEqual([...allocatable.keys()], ['cpu'], 'what was known stays');
  fleet.observe({ ...machine('b', State.Idle, 'p'), allocatable: new Map(names) });
  assert.equal(fleet.inventory.slotOf('b'), -1);
});
