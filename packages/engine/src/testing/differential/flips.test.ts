// Proves that an incremental cycle notices what changes rarely: a fold that grows or loses its
// ground, a class number that is used again, a parked gang that is served at last.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needKey } from '../../model/need.ts';
import { cores, fleet, machine, machines, need, RACK_KEY } from '../build.ts';
import { follow } from './steps.ts';

const gang = (group: string, wanted: number): ReturnType<typeof need> =>
  need({ same: RACK_KEY, group, wants: cores(wanted) });

test('a fold grows and shrinks with its gangs', () => {
  const all = machines(4, 'm', { rack: 'r1', has: cores(2) });
  const gangs = ['g1', 'g2', 'g3'].map((group) => gang(group, 2));
  const outputs = follow(
    [2, 3, 1].map((count) => fleet({ machines: all, needs: gangs.slice(0, count) })),
  );
  assert.deepEqual(
    outputs.map(({ verdicts }) => verdicts.map((verdict) => verdict.need.aggregate)),
    [[cores(4)], [cores(6)], [cores(2)]],
  );
});

test('a fold ends when the class that it rests on becomes another one', () => {
  const small = machine({ id: 'small', rack: 'r1' });
  const needs = [gang('g', 4), need({ cluster: 'b', wants: cores(1), priority: 9 })];
  const outputs = follow([
    fleet({ machines: [machine({ id: 'big', rack: 'r1', has: cores(4) })], needs }),
    fleet({ machines: [small], needs }),
  ]);
  assert.deepEqual(
    outputs.map(({ verdicts }) => verdicts.map((verdict) => verdict.need.profile.same?.key)),
    [
      [undefined, undefined],
      [undefined, RACK_KEY],
    ],
  );
});

test('a parked gang that is served is not parked any more', () => {
  const row = gang('g', 2);
  const needs = [row];
  const bound = machines(2, 'm', { state: 'Configured', serves: row, rack: 'r1' });
  const memory = { parkingAges: new Map([[needKey(row), 8]]), shortfalls: new Map() };
  const outputs = follow([
    fleet({ machines: bound.slice(0, 1), needs, memory }),
    fleet({ machines: bound, needs }),
    fleet({ machines: bound, needs }),
  ]);
  assert.deepEqual(
    outputs.map(({ verdicts }) => [verdicts[0]?.satisfied, verdicts[0]?.parked]),
    [
      [false, true],
      [true, true],
      [true, false],
    ],
  );
});

test('a gang becomes parked in the ninth cycle without any change', () => {
  const row = gang('g', 2);
  const state = fleet({
    machines: machines(1, 'm', { state: 'Configured', serves: row, rack: 'r1' }),
    needs: [row],
  });
  const outputs = follow(Array.from({ length: 10 }, () => state));
  assert.deepEqual(
    outputs.map(({ verdicts }) => verdicts[0]?.parked),
    [...Array.from({ length: 8 }, () => false), true, true],
  );
});

test('a price that changes while the class number stays moves the choice', () => {
  const needs = [need({ wants: cores(1) })];
  const priced = (id: string, price: number): ReturnType<typeof machine> =>
    machine({ id, state: 'Speculative', price });
  const outputs = follow([
    fleet({ machines: [priced('x', 1), priced('y', 2)], needs }),
    fleet({ machines: [priced('x', 3), priced('y', 2)], needs }),
  ]);
  assert.deepEqual(
    outputs.map(({ actions }) => actions.map(({ machineId }) => machineId)),
    [['x'], ['y']],
  );
});
