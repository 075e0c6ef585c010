// Proves on random bad networks that nothing is acknowledged early and that everything converges once
// the network is calm; testing/seed-run.ts says what is checked. A failure prints its seed.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runSeed } from './testing/seed-run.ts';

const SEED_COUNT = Number(process.env['BIGFLEET_SEEDS'] ?? 60);

it(`${SEED_COUNT} seeds`, async (t) => {
  let sessionCount = 0;
  let acknowledgedCount = 0;
  for (let seed = 0; seed < SEED_COUNT; seed++) {
    const run = await runSeed(`operator-${seed}`);
    sessionCount += run.sessionCount;
    acknowledgedCount += run.acknowledgedCount;
  }
  t.diagnostic(`${sessionCount} sessions, ${acknowledgedCount} acknowledged requests`);
  assert.ok(sessionCount > SEED_COUNT * 3, 'the network was not bad enough');
  assert.ok(acknowledgedCount > SEED_COUNT * 5, 'hardly anything happened');
});
