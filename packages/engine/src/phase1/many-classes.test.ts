// Proves that machines of equal rank go by id across many classes, where heads are kept in a heap,
// in crediting and in acquisition, whoever takes in between.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCycle } from '../cycle/plain.ts';
import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import type { Machine } from '../model/machine.ts';
import { noResources } from '../model/resources.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { claimedBy, cores, fleet, machine, type MachineInit, need } from '../testing/build.ts';

/** More than either heap's threshold. */
const CLASSES = 12;
const MEMBERS = 4;

function decide(input: CycleInput): CycleOutput {
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  return output;
}

/** Machine ids interleave over the classes: m00 in the first, m01 in the second, … */
function interleaved(init: Omit<MachineInit, 'id'>): Machine[] {
  return ids(CLASSES * MEMBERS).map((id, at) =>
    machine({ ...init, id, labels: { class: `c${at % CLASSES}` } }),
  );
}

function ids(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `m${String(at).padStart(2, '0')}`);
}

/** With a unit in every dimension every class contributes; without one, each is asked. */
const units = { 'with a unit': cores(1), 'without a unit': noResources };

for (const [name, unit] of Object.entries(units)) {
  test(`${name}: bound machines of one rank are kept by id`, () => {
    const all = interleaved({ state: 'Configured', cluster: 'a' });
    const output = decide(fleet({ machines: all, needs: [need({ wants: cores(30), unit })] }));
    assert.deepEqual(claimedBy(output, 0), ids(30));
  });

  for (const state of ['Idle', 'Speculative'] as const) {
    test(`${name}: ${state} machines of one cost are taken by id`, () => {
      const output = decide(
        fleet({ machines: interleaved({ state }), needs: [need({ wants: cores(30), unit })] }),
      );
      assert.deepEqual(claimedBy(output, 0), ids(30));
    });
  }
}

test('a need that asks each class and one that does not share the pools', () => {
  const needs = [3, 2, 1].map((priority) =>
    need({ wants: cores(10), priority, unit: priority === 2 ? noResources : cores(1) }),
  );
  const output = decide(fleet({ machines: interleaved({}), needs }));
  assert.deepEqual(
    [0, 1, 2].map((index) => claimedBy(output, index)),
    [ids(10), ids(20).slice(10), ids(30).slice(20)],
  );
});

test('a slice that is spent in the middle of a wide tier leaves the other provider', () => {
  const all = interleaved({ state: 'Speculative' }).map((each, at) => ({
    ...each,
    provider: at % 2 === 0 ? 'limited' : 'provider',
  }));
  const needs = [need({ wants: cores(12), unit: cores(1) })];
  const output = decide(fleet({ machines: all, needs, quota: { limited: 2 } }));
  const odd = ids(40).filter((_, at) => at % 2 === 1);
  assert.deepEqual(claimedBy(output, 0), ['m00', 'm02', ...odd.slice(0, 10)].sort());
});
