// Proves failover over 100 SIGKILLs of the leader, or as many as BIGFLEET_LONG_MS allows, and records
// how long each gap was.

import { test } from 'node:test';
import { killLeader, noteKillGaps } from './drills/kill.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { DEFAULT_TTL_MS, FailoverStage } from './stage.ts';

test('100 kills of the leader', async (t) => {
  await using stage = await FailoverStage.start({ leaseTtlMs: DEFAULT_TTL_MS });
  const box = { withinMs: longBoxMs() };
  noteKillGaps(t, await repeated(t, 'kill', 100, () => killLeader(stage), box));
  stage.noteCycles(t);
  stage.assertAssignmentsFlowed();
});
