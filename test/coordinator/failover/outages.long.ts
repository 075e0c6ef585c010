// Proves the slower drills: etcd without a quorum for 60 s, and as often as BIGFLEET_LONG_MS allows
// hand-overs, revoked leases and rolling restarts.

import { test } from 'node:test';
import { assertHandOverGaps, stopLeader } from './drills/hand-over.ts';
import { assertFullRate, loseQuorum } from './drills/quorum-loss.ts';
import { revokeLeaderLease } from './drills/revoke.ts';
import { assertReportGaps, restartAll } from './drills/rolling.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { FailoverStage, IN_TIME } from './stage.ts';

test('an outage of 60 s, hand-overs, revocations, rolling restarts', async (t) => {
  await using stage = await FailoverStage.start(IN_TIME);
  const box = { withinMs: longBoxMs(0.2) };
  assertFullRate(await repeated(t, 'quorum-loss', 1, () => loseQuorum(stage, 60_000), box));
  assertHandOverGaps(await repeated(t, 'hand-over', 20, () => stopLeader(stage), box));
  await repeated(t, 'revoke', 10, () => revokeLeaderLease(stage), box);
  assertReportGaps(await repeated(t, 'rolling', 5, () => restartAll(stage), box));
  stage.assertAssignmentsFlowed();
});
