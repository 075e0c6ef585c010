// Proves that a leader that lives on is replaced and fenced: 10 freezes and 10 partitions from etcd, or as
// many as BIGFLEET_LONG_MS allows. Records how long each took beyond the lease.

import { test } from 'node:test';
import { cutLeaderFromEtcd, freezeLeader, noteZombieGaps } from './drills/zombie.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { DEFAULT_TTL_MS, FailoverStage } from './stage.ts';

test('10 freezes and 10 partitions of the leader', async (t) => {
  await using stage = await FailoverStage.start({ leaseTtlMs: DEFAULT_TTL_MS });
  t.diagnostic(`partitions: ${stage.partitions.backend}`);
  const box = { withinMs: longBoxMs(0.5) };
  noteZombieGaps(t, await repeated(t, 'freeze', 10, () => freezeLeader(stage), box));
  noteZombieGaps(t, await repeated(t, 'partition', 10, () => cutLeaderFromEtcd(stage), box));
  stage.noteCycles(t);
  stage.assertAssignmentsFlowed();
});
