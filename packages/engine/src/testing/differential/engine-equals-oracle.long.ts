// The law of engine-equals-oracle.test.ts on a million further fleets, or as many as the time box
// allows; other seeds every day, or those from BIGFLEET_SEED on. Prints how far it got.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { engineCycle } from '../../cycle/plain.ts';
import { oracleCycle } from '../../oracle/cycle.ts';
import { randomFleet } from '../generate.ts';

const FLEETS = Number(process.env['BIGFLEET_FLEETS'] ?? 1_000_000);
const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? Number.POSITIVE_INFINITY);
const MS_PER_DAY = 86_400_000n;

test(`the engine equals the oracle on up to ${FLEETS} further fleets`, (context) => {
  const { clock } = realRuntime();
  const today = clock.unixNanos() / 1_000_000n / MS_PER_DAY;
  const first = process.env['BIGFLEET_SEED'] ?? `day-${today}`;
  const endMs = clock.monotonicMs() + BOX_MS;
  let done = 0;
  for (; done < FLEETS && clock.monotonicMs() < endMs; done++) {
    const seed = `${first}-${done}`;
    // Every fiftieth is wide: many classes and groups per tier.
    const options = done % 50 === 0 ? { maxMachines: 300, maxNeeds: 40 } : {};
    const input = randomFleet(createRandom(seed), options);
    assert.deepEqual(engineCycle(input), oracleCycle(input), `seed ${seed}`);
  }
  context.diagnostic(`${done} of ${FLEETS} fleets from seed ${first}-0 on`);
  assert.ok(done > 0, 'the time box let no fleet run');
});
