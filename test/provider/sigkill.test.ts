// Proves the SIGKILL law with 20 kills of a real provider process under load from two shards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill-loop.ts';

const KILLS = 20;
const WITHIN_MS = 90_000;

test('20 kills under load lose nothing', { timeout: 2 * WITHIN_MS }, async (context) => {
  const seed = process.env['BIGFLEET_SEED'] ?? 'sigkill';
  const report = await runKillLoop({ kills: KILLS, seed, withinMs: WITHIN_MS });
  const { mutationCount, interruptedCount } = report;
  context.diagnostic(`seed ${seed}: ${mutationCount} mutations, ${interruptedCount} interrupted`);
  assert.equal(report.killCount, KILLS);
  assert.ok(mutationCount > 10 * KILLS, `too little load: ${mutationCount}`);
  assert.ok(interruptedCount > 0, 'no kill hit a Configure under way');
});
