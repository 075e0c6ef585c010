// Proves that a need only shares the candidate list of another when it found the same: not after
// a class was used up in between, not for another profile, not when it lacks something else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decide } from '../explain/testing/decide.ts';
import { cores, fleet, machine, need, resources } from '../testing/build.ts';
import type { CycleInput } from '../model/cycle.ts';

/** Of every need in the order of acquisition: `type code chosen/left` of its candidates. */
function told(input: CycleInput): string[] {
  return decide(input).record.needs.map(({ cluster, candidates }) => {
    const rows = candidates.map(
      ({ shape, code, chosenCount, leftCount }) =>
        `${shape.instanceType} ${code} ${chosenCount}/${leftCount}`,
    );
    return `${cluster}: ${rows.join(', ')}`;
  });
}

test('needs of one profile share a list until a class is used up', () => {
  const machines = ['x', 'y', 'x', 'y'].map((type, at) => machine({ id: `m${at}`, type }));
  const needs = ['a', 'b', 'c', 'd'].map((cluster) => need({ cluster, wants: cores(1) }));
  assert.deepEqual(told(fleet({ machines, needs })), [
    'a: x chosen 1/1, y costlier 0/2',
    'b: x costlier 0/1, y chosen 1/1',
    'c: x chosen 1/0, y costlier 0/1',
    'd: x claimed_equal_precedence 0/0, y chosen 1/0',
  ]);
});

test('needs of another profile have a list of their own', () => {
  const machines = ['x', 'y', 'y', 'y'].map((type, at) => machine({ id: `m${at}`, type }));
  const needs = [
    ...['a', 'b'].map((cluster) => need({ cluster, wants: cores(1), priority: 9 })),
    need({ cluster: 'c', wants: cores(1), priority: 5 }),
  ];
  assert.deepEqual(told(fleet({ machines, needs })), [
    'a: x chosen 1/0, y costlier 0/3',
    'b: x claimed_equal_precedence 0/0, y chosen 1/2',
    'c: x claimed_higher_precedence 0/0, y chosen 1/1',
  ]);
});

test('needs that lack something else have a list of their own', () => {
  const machines = [
    ...['m0', 'm1'].map((id) =>
      machine({ id, type: 'x', has: resources({ cpu: 1000, memory: 1 }) }),
    ),
    machine({ id: 'm2', type: 'y', price: 2, has: resources({ memory: 1 }) }),
  ];
  const needs = [
    need({ cluster: 'a', wants: resources({ cpu: 1000 }), unit: resources({}) }),
    need({ cluster: 'b', wants: resources({ memory: 1 }), unit: resources({}) }),
  ];
  assert.deepEqual(told(fleet({ machines, needs })), [
    'a: x chosen 1/1, y no_contribution 0/1',
    'b: x chosen 1/0, y costlier 0/1',
  ]);
});

test('more machines of one class share the list, their numbers follow from the actions', () => {
  const machines = Array.from({ length: 7 }, (_, at) => machine({ id: `m${at}`, type: 'x' }));
  const needs = [need({ cluster: 'a', wants: cores(2) }), need({ cluster: 'b', wants: cores(3) })];
  assert.deepEqual(told(fleet({ machines, needs })), ['a: x chosen 2/5', 'b: x chosen 3/2']);
});
