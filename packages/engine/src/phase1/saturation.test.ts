// Proves that totals beyond the exact integers stop at 2⁵³ − 1, in folds and in domains, and
// decide like the oracle there.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCycle } from '../cycle/plain.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { fleet, machines, need, RACK_KEY, resources } from '../testing/build.ts';

const MAX = Number.MAX_SAFE_INTEGER;

test('the sum of folded gangs saturates', () => {
  const huge = resources({ memory: 2 ** 52 + 1, cpu: 1000 });
  const input = fleet({
    machines: machines(5, 'm', { has: huge, rack: 'r1' }),
    needs: ['g1', 'g2', 'g3'].map((group) => need({ same: RACK_KEY, group, wants: huge })),
  });
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  assert.equal(output.verdicts.length, 1);
  assert.deepEqual(output.verdicts[0]?.need.aggregate, resources({ memory: MAX, cpu: 3000 }));
});

test('totals of domains saturate, so that more of too much does not decide', () => {
  // Both racks offer 3000 of cpu and more memory than can be counted. Saturated they tie on rule
  // 3, and rule 6 takes the one with more machines.
  const rack = (value: string, count: number, cpu: number): ReturnType<typeof machines> =>
    machines(count, value, { rack: value, has: resources({ memory: MAX, cpu }) });
  const input = fleet({
    machines: [...rack('r1', 2, 1500), ...rack('r2', 3, 1000)],
    needs: [need({ same: RACK_KEY, wants: resources({ memory: MAX, cpu: 2000 }) })],
  });
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  assert.equal(output.verdicts[0]?.sameDomain, 'r2');
});

test('a total that comes down again from beyond is exact', () => {
  // The first gang takes two of three machines with as much memory as can be counted; what is
  // left covers the second to the last unit.
  const gang = (group: string, memory: number, cpu: number): ReturnType<typeof need> =>
    need({ same: RACK_KEY, group, wants: resources({ memory, cpu }) });
  const input = fleet({
    machines: [
      ...machines(3, 'big', { rack: 'r1', has: resources({ memory: MAX, cpu: 1000 }) }),
      ...machines(2, 'small', { rack: 'r1', has: resources({ cpu: 1000 }), price: 2 }),
    ],
    needs: [gang('g1', 1, 2000), gang('g2', MAX, 3000)],
  });
  const output = engineCycle(input);
  assert.deepEqual(output, oracleCycle(input));
  assert.deepEqual(
    output.verdicts.map(({ satisfied, sameSatisfiable }) => [satisfied, sameSatisfiable]),
    [
      [true, true],
      [true, true],
    ],
  );
});
