// Proves the SIGKILL law with 20 kills of a real provider process under load from two shards.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill-loop.ts';

const KILLS = 20;

test('20 kills under load lose nothing', async (context) => {
  const seed = process.env['BIGFLEET_SEED'] ?? 'sigkill';
  const report = await runKillLoop({ kills: KILLS, seed });
  const { mutationCount, interruptedCount } = report;
  context.diagnostic(`seed ${seed}: ${mutationCount} mutations, ${interruptedCount} interrupted`);
  assert.equal(report.killCount, KILLS);
  assert.ok(mutationCount > 5 * KILLS, `too little load: ${mutationCount}`);
  assert.ok(interruptedCount > 0, 'no kill hit a Configure under way');
});
