// Proves how a gang that found no domain in the credit pass picks one: a domain that covers its
// residue alone, an exact fit included, and among those the cheapest head, not the most machines.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { engineCycle } from '../cycle/plain.ts';
import type { Machine } from '../model/machine.ts';
import type { Need } from '../model/need.ts';
import { Operator } from '../model/requirement.ts';
import { oracleCycle } from '../oracle/cycle.ts';
import { claimedBy, cores, fleet, machine, need, RACK_KEY } from '../testing/build.ts';

interface Leftover {
  readonly machines: readonly Machine[];
  readonly needs: readonly Need[];
}

/**
 * Five machines of which two gangs together expect all, so that nobody else has a domain, and
 * really take the first four: the second gang has the higher precedence and takes what crediting
 * had given to the first.
 */
function leavesLast(rack: string, pool: string, lastCores: number, price: number): Leftover {
  const requirements = [{ key: 'pool', operator: Operator.In, values: [pool] }];
  const gang = { same: RACK_KEY, requirements };
  return {
    machines: [2, 2, 1, 2, lastCores].map((size, at) =>
      machine({
        id: `${pool}${at + 1}`,
        rack,
        labels: { pool },
        has: cores(size),
        price: price + at,
      }),
    ),
    needs: [
      need({ ...gang, group: `${pool}1`, wants: cores(3), arrival: 1n }),
      need({ ...gang, group: `${pool}2`, wants: cores(4), arrival: 2n, interruption: 0.5 }),
    ],
  };
}

/** Rack r1 keeps two machines of two cores, rack r2 three of one core. */
function parts(r1Price: number, r2Price: number): Leftover[] {
  return [
    leavesLast('r1', 'x', 2, r1Price),
    leavesLast('r1', 'y', 2, r1Price),
    ...['u', 'v', 'w'].map((pool) => leavesLast('r2', pool, 1, r2Price)),
  ];
}

for (const { name, wants, r1Price, r2Price, taken } of [
  {
    name: 'an exact fit covers, though another rack has more machines and cheaper heads',
    wants: 4,
    r1Price: 9,
    r2Price: 1,
    taken: ['x5', 'y5'],
  },
  {
    name: 'of two racks that cover, the one with the cheaper head',
    wants: 3,
    r1Price: 1,
    r2Price: 9,
    taken: ['x5', 'y5'],
  },
  {
    name: 'of two racks that cover, the cheaper head also when it has more machines',
    wants: 3,
    r1Price: 9,
    r2Price: 1,
    taken: ['u5', 'v5', 'w5'],
  },
]) {
  test(name, () => {
    const left = parts(r1Price, r2Price);
    const last = need({ same: RACK_KEY, group: 'last', wants: cores(wants), arrival: 3n });
    const input = fleet({
      machines: left.flatMap(({ machines }) => machines),
      needs: [...left.flatMap(({ needs }) => needs), last],
    });
    const output = engineCycle(input);
    assert.deepEqual(output, oracleCycle(input));
    const index = output.verdicts.findIndex((verdict) => verdict.need === last);
    assert.equal(output.verdicts[index]?.sameDomain, undefined);
    assert.deepEqual(claimedBy(output, index), taken);
  });
}
