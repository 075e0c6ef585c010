// Proves the SIGKILL law of the shard with 10 kills of a real process over a real, asynchronous
// provider, eight actions at a time.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill/kill-loop.ts';

const KILLS = 10;

test('10 kills under load: nothing lost, nothing twice', async (t) => {
  const seed = process.env['BIGFLEET_SEED'] ?? 'shard sigkill';
  const report = await runKillLoop({ kills: KILLS, seed });
  t.diagnostic(`seed ${seed}: ${JSON.stringify(report)}`);
  assert.equal(report.killCount, KILLS);
  assert.ok(report.effectCount > 2 * KILLS, `too little load: ${report.effectCount} effects`);
  assert.ok(report.interruptedCount > 0, 'no kill hit work under way');
});
