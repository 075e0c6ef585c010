// Proves failover over 100 SIGKILLs of the leader, or as many as BIGFLEET_LONG_MS allows: at most one
// gap above 1.5 s, none above the lease's time and a second.

import { test } from 'node:test';
import { assertKillGaps, killLeader } from './drills/kill.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { FailoverStage, IN_TIME } from './stage.ts';

test('100 kills of the leader', async (t) => {
  await using stage = await FailoverStage.start(IN_TIME);
  const box = { withinMs: longBoxMs() };
  assertKillGaps(await repeated(t, 'kill', 100, () => killLeader(stage), box));
  stage.assertAssignmentsFlowed();
});
