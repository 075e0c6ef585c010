// The law of seeds.test.ts on as many further seeds as the time box allows; other seeds every
// day, or those from BIGFLEET_SEED on. Prints how far it got.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { runSeeds } from './testing/run-seeds.ts';

const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const SEEDS_PER_BATCH = 500;
const MS_PER_DAY = 86_400_000n;
const SEEDS_PER_DAY = 100_000_000n;

test('further seeds without a leak or a hang', async (t) => {
  const { clock } = realRuntime();
  const today = clock.unixNanos() / 1_000_000n / MS_PER_DAY;
  const first = BigInt(process.env['BIGFLEET_SEED'] ?? today * SEEDS_PER_DAY);
  const endMs = clock.monotonicMs() + BOX_MS;
  let done = 0n;
  while (clock.monotonicMs() < endMs) {
    const range = { first: first + done, count: SEEDS_PER_BATCH, replayEvery: 50 };
    done += BigInt((await runSeeds(range)).seedCount);
  }
  t.diagnostic(`${done} seeds from ${first} on, in ${BOX_MS} ms`);
  assert.ok(done > 0n, 'the time box let no seed run');
});
