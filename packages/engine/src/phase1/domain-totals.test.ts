// Proves that gangs which differ in what they may use do not share what a domain offers, and that
// one sees what another has consumed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCycle } from '../cycle/plain.ts';
import type { CycleInput, CycleOutput } from '../model/cycle.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { cores, fleet, machines, need, RACK_KEY } from '../testing/build.ts';

const PINNED = Number.POSITIVE_INFINITY;

function domains(input: CycleInput): (string | undefined)[] {
  const output: CycleOutput = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  return output.verdicts.map(({ sameDomain }) => sameDomain);
}

test('a pinned gang does not see the machines that another gang of its shape may use', () => {
  const gang = { same: RACK_KEY, wants: cores(2) };
  for (const [first, second, expected] of [
    [0, PINNED, ['risky', 'stable']],
    [PINNED, 0, ['stable', 'risky']],
  ] as const) {
    const input = fleet({
      machines: [
        ...machines(2, 'x', { rack: 'risky', probability: 0.5 }),
        ...machines(3, 'y', { rack: 'stable' }),
      ],
      needs: [
        need({ ...gang, group: 'g1', priority: 2, interruption: first }),
        need({ ...gang, group: 'g2', priority: 1, interruption: second }),
      ],
    });
    assert.deepEqual(domains(input), expected);
  }
});

test('a gang of another shape sees what was consumed before it', () => {
  const input = fleet({
    machines: [
      ...machines(3, 'x', { rack: 'r1', has: cores(2) }),
      ...machines(4, 'y', { rack: 'r2', has: cores(2) }),
    ],
    needs: [
      need({ same: RACK_KEY, group: 'g1', priority: 2, wants: cores(6) }),
      need({ same: RACK_KEY, group: 'g2', priority: 1, wants: cores(4), unit: cores(2) }),
    ],
  });
  assert.deepEqual(domains(input), ['r1', 'r2']);
});
