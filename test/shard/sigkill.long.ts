// Proves the SIGKILL law of the shard over 100 kills, or as many as BIGFLEET_LONG_MS allows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill/kill-loop.ts';

const KILLS = 100;
const DEFAULT_MS = 15 * 60_000;

test('100 kills under load: nothing lost, nothing twice', async (t) => {
  const withinMs = Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_MS);
  const seed = process.env['BIGFLEET_SEED'] ?? 'shard sigkill long';
  const report = await runKillLoop({ kills: KILLS, seed, withinMs });
  t.diagnostic(`seed ${seed}: of ${KILLS} kills ${JSON.stringify(report)}`);
  assert.ok(report.killCount > 0 && report.interruptedCount > 0);
});
