// Proves that the oracle keeps the properties of engine §12 on generated fleets: invariants of one
// cycle, independence of input order, and that the observations are consistent with the claims.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import type { CycleInput } from '../model/cycle.ts';
import { randomFleet, shuffle } from '../testing/generate.ts';
import { checkInvariants } from '../testing/invariants.ts';
import { oracleCycle } from './cycle.ts';

const FLEET_COUNT = Number(process.env['BIGFLEET_ORACLE_FLEETS'] ?? 3000);

function forEachFleet(
  name: string,
  count: number,
  check: (input: CycleInput, at: number) => void,
): void {
  for (let at = 0; at < count; at++) {
    const seed = `${name}/${at}`;
    try {
      check(randomFleet(createRandom(seed)), at);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
}

test(`properties 1–8, 13, 14 and 16 hold on ${FLEET_COUNT} fleets`, () => {
  forEachFleet('invariants', FLEET_COUNT, (input) => checkInvariants(input, oracleCycle(input)));
});

test('property 9: the order of rows and machines changes nothing', () => {
  forEachFleet('permutation', Math.ceil(FLEET_COUNT / 10), (input, at) => {
    const random = createRandom(`shuffle/${at}`);
    const shuffled = {
      ...input,
      machines: shuffle(random, input.machines),
      needs: shuffle(random, input.needs),
    };
    assert.deepEqual(oracleCycle(shuffled), oracleCycle(input));
  });
});
