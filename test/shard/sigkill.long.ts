// Proves the SIGKILL law of the shard over 100 kills, or as many as BIGFLEET_LONG_MS allows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill/kill-loop.ts';

const KILLS = 100;
const DEFAULT_MS = 15 * 60_000;
/** Among as many, some hit work under way. */
const KILLS_WORTH_A_HIT = 10;

test('100 kills under load: nothing lost, nothing twice', async (t) => {
  const withinMs = Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_MS);
  const seed = process.env['BIGFLEET_SEED'] ?? 'shard sigkill long';
  const boxed = await runKillLoop({ kills: KILLS, seed, withinMs });
  // A fleet that took the whole box to begin is killed once.
  const report = boxed.killCount > 0 ? boxed : await runKillLoop({ kills: 1, seed });
  t.diagnostic(`seed ${seed}: of ${KILLS} kills ${JSON.stringify(report)}`);
  assert.ok(report.killCount < KILLS_WORTH_A_HIT || report.interruptedCount > 0);
});
