// Proves that the engine decides exactly what the oracle decides, over generated fleets.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { engineCycle } from '../../cycle/plain.ts';
import { oracleCycle } from '../../oracle/cycle.ts';
import { randomFleet } from '../generate.ts';

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 10_000);
const FIRST = Number(process.env['BIGFLEET_SEED'] ?? 1);

test(`the engine equals the oracle on ${FLEETS} fleets`, () => {
  for (let seed = FIRST; seed < FIRST + FLEETS; seed++) {
    const input = randomFleet(createRandom(String(seed)));
    assert.deepEqual(engineCycle(input), oracleCycle(input), `seed ${seed}`);
  }
});

test('the engine equals the oracle on wide fleets, where heads are kept in heaps', () => {
  for (let seed = FIRST; seed < FIRST + FLEETS / 40; seed++) {
    const input = randomFleet(createRandom(`wide-${seed}`), { maxMachines: 300, maxNeeds: 40 });
    assert.deepEqual(engineCycle(input), oracleCycle(input), `wide seed ${seed}`);
  }
});
