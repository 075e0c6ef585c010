// Proves that the engine behaves as the oracle's behaviour suite says, and keeps the invariants
// over generated fleets.

import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { describeBehaviours } from '../testing/behaviours/index.ts';
import { randomFleet } from '../testing/generate.ts';
import { checkInvariants } from '../testing/invariants.ts';
import { engineCycle } from './plain.ts';

describeBehaviours(engineCycle);

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 1_000);

test(`the invariants hold on ${FLEETS} fleets`, () => {
  for (let seed = 1; seed <= FLEETS; seed++) {
    const input = randomFleet(createRandom(`invariants-${seed}`));
    checkInvariants(input, engineCycle(input));
  }
});
