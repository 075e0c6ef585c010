// Proves the SIGKILL law over 300 kills, or as many as BIGFLEET_LONG_MS allows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKillLoop } from './kill-loop.ts';

const KILLS = 300;
const DEFAULT_MS = 15 * 60_000;

test('300 kills under load lose nothing', async (context) => {
  const withinMs = Number(process.env['BIGFLEET_LONG_MS'] ?? DEFAULT_MS);
  const seed = process.env['BIGFLEET_SEED'] ?? 'sigkill long';
  const boxed = await runKillLoop({ kills: KILLS, seed, withinMs });
  // A provider that took the whole box to begin is killed once.
  const report = boxed.killCount > 0 ? boxed : await runKillLoop({ kills: 1, seed });
  const { killCount, mutationCount, interruptedCount } = report;
  context.diagnostic(
    `seed ${seed}: ${killCount} of ${KILLS} kills, ${mutationCount} mutations, ` +
      `${interruptedCount} interrupted`,
  );
  assert.ok(killCount > 0 && mutationCount > 5 * killCount);
});
