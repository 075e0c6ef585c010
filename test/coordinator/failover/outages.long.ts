// Proves the slower drills: etcd without a quorum for 60 s, and as often as BIGFLEET_LONG_MS allows
// hand-overs, revoked leases and rolling restarts. Records how long each was felt.

import { test } from 'node:test';
import { noteHandOverGaps, stopLeader } from './drills/hand-over.ts';
import { loseQuorum, noteRate } from './drills/quorum-loss.ts';
import { revokeLeaderLease } from './drills/revoke.ts';
import { noteReportGaps, restartAll } from './drills/rolling.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { DEFAULT_TTL_MS, FailoverStage } from './stage.ts';

test('an outage of 60 s, hand-overs, revocations, rolling restarts', async (t) => {
  await using stage = await FailoverStage.start({ leaseTtlMs: DEFAULT_TTL_MS });
  const box = { withinMs: longBoxMs(0.2) };
  noteRate(t, await repeated(t, 'quorum-loss', 1, () => loseQuorum(stage, 60_000), box));
  noteHandOverGaps(t, await repeated(t, 'hand-over', 20, () => stopLeader(stage), box));
  await repeated(t, 'revoke', 10, () => revokeLeaderLease(stage), box);
  noteReportGaps(t, await repeated(t, 'rolling', 5, () => restartAll(stage), box));
  stage.noteCycles(t);
  stage.assertAssignmentsFlowed();
});
