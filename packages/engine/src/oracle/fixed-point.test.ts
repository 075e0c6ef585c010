// Proves property 10 of engine §12 as far as the rules give it: at constant demand, applying all
// actions goes quiet within a bounded number of cycles, and what is unsatisfied then stays so.
// Where the rules as written do not give it, findings.test.ts shows the fleets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import type { CycleInput } from '../model/cycle.ts';
import { applyActions, type Staging } from '../testing/apply.ts';
import { cores, fleet, machine, machines, need, told } from '../testing/build.ts';
import { type GenerateOptions, randomFleet } from '../testing/generate.ts';
import { oracleCycle } from './cycle.ts';

/** Seen at most: 13 in 15,000 fleets. The bound is for endless churn, not for elegance. */
const MAX_CYCLES = 20;
const FLEET_COUNT = 800;

/** Runs until a cycle without actions; returns the quiet fleet. */
function settle(start: CycleInput, staging: Staging = {}): CycleInput {
  let input = start;
  for (let cycle = 0; cycle <= MAX_CYCLES; cycle++) {
    const output = oracleCycle(input);
    if (output.actions.length === 0) return input;
    input = applyActions(input, output, staging);
  }
  return assert.fail(`not quiet after ${MAX_CYCLES} cycles: ${told(oracleCycle(input)).join()}`);
}

function assertStaysQuiet(start: CycleInput): void {
  let input = start;
  const residue = oracleCycle(input).verdicts.map(({ deficit }) => deficit);
  for (let cycle = 0; cycle < 4; cycle++) {
    const output = oracleCycle(input);
    assert.deepEqual(told(output), []);
    assert.deepEqual(
      output.verdicts.map(({ deficit }) => deficit),
      residue,
    );
    input = applyActions(input, output);
  }
}

const kinds: readonly (readonly [name: string, options: GenerateOptions])[] = [
  ['plain needs', { calm: true, plain: true, unspread: true }],
  ['plain needs without preemption', { calm: true, plain: true, flatPriority: true }],
  ['gangs', { calm: true, unspread: true }],
  ['gangs without preemption', { calm: true, flatPriority: true }],
];

for (const [name, options] of kinds) {
  test(`${name} go quiet on ${FLEET_COUNT} fleets`, () => {
    for (let at = 0; at < FLEET_COUNT; at++) {
      const seed = `quiet/${name}/${at}`;
      try {
        assertStaysQuiet(settle(randomFleet(createRandom(seed), options)));
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
  });
}

test('one need over interchangeable machines is quiet after one cycle', () => {
  for (let wanted = 0; wanted <= 6; wanted++) {
    const input = fleet({
      machines: [
        ...machines(1, 'c', { state: 'Configured' }),
        ...machines(2, 'i', {}),
        ...machines(2, 's', { state: 'Speculative' }),
      ],
      needs: [need({ wants: cores(wanted) })],
    });
    assert.deepEqual(told(oracleCycle(applyActions(input, oracleCycle(input)))), []);
  }
});

test('an inversion is quiet after three cycles: preempt, bootstrap, nothing', () => {
  const low = need({ cluster: 'low', wants: cores(2) });
  const high = need({ cluster: 'high', wants: cores(1), priority: 10 });
  let input = fleet({
    machines: machines(2, 'm', { state: 'Configured', serves: low }),
    needs: [low, high],
  });
  const log: string[][] = [];
  for (let cycle = 0; cycle < 3; cycle++) {
    const output = oracleCycle(input);
    log.push(told(output));
    input = applyActions(input, output);
  }
  assert.deepEqual(log, [['Preempt m1'], ['Bootstrap m1'], []]);
});

test('a fleet whose creates and configures never complete is quiet as well', () => {
  const input = fleet({
    machines: [...machines(3, 's', { state: 'Speculative' }), machine({ id: 'i' })],
    needs: [need({ wants: cores(3) })],
  });
  assertStaysQuiet(settle(input, { creates: true, configures: true }));
});
