// The laws of seeds.test.ts on as many further seeds as the time box allows, half of the time with
// production shards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInWorkers, type SeedRange } from './world/seed-range.ts';

const BOX_MS = Number(process.env['BIGFLEET_LONG_MS'] ?? 60_000);
const FIRST = 1_000_000;
const MAX_SEEDS = 10_000_000;

test('seeds of ownership until the time box ends', async (t) => {
  const range = { first: FIRST, count: MAX_SEEDS, budgetMs: BOX_MS };
  const ranges: readonly SeedRange[] = [
    { ...range, kind: 'model' },
    { ...range, kind: 'real' },
  ];
  const results = await runInWorkers(ranges.map((each) => [each]));
  for (const { kind, tally, failure, seedCount } of results) {
    assert.equal(failure, undefined, failure);
    t.diagnostic(`${seedCount} ${kind} seeds: ${JSON.stringify(tally)}`);
    assert.ok(seedCount > 0);
  }
});
