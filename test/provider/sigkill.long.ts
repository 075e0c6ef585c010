// Proves the SIGKILL law over 300 kills, or as many as BIGFLEET_LONG_MS allows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill-loop.ts';

const KILLS = 300;
const DEFAULT_MS = 15 * 60_000;

test('300 kills under load lose nothing', async (context) => {
  const withinMs = Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_MS);
  const seed = process.env['BIGFLEET_SEED'] ?? 'sigkill long';
  const report = await runKillLoop({ kills: KILLS, seed, withinMs });
  const { killCount, mutationCount, interruptedCount } = report;
  context.diagnostic(
    `seed ${seed}: ${killCount} of ${KILLS} kills, ${mutationCount} mutations, ` +
      `${interruptedCount} interrupted`,
  );
  assert.ok(killCount > 0 && mutationCount > 5 * killCount);
});
