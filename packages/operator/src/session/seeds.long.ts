// Proves what seeds.test.ts proves, on as many further seeds as the time box allows: other seeds every
// day, or those from BIGFLEET_SEED on. Prints how far it got.

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { runSeed } from './testing/seed-run.ts';

const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const MS_PER_DAY = 86_400_000n;
const SEEDS_PER_DAY = 1_000_000n;

it('further seeds on bad networks', async (t) => {
  const { clock } = realRuntime();
  const today = clock.unixNanos() / 1_000_000n / MS_PER_DAY;
  const first = BigInt(process.env['BIGFLEET_SEED'] ?? today * SEEDS_PER_DAY);
  const endMs = clock.monotonicMs() + BOX_MS;
  let done = 0n;
  while (clock.monotonicMs() < endMs) {
    await runSeed(`operator-${first + done}`);
    done++;
  }
  t.diagnostic(`${done} seeds from ${first} on, in ${BOX_MS} ms`);
  assert.ok(done > 0n, 'the time box let no seed run');
});
