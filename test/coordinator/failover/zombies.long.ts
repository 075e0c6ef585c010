// Proves that a leader that lives on is replaced within its lease's time and a second, and fenced: 10
// freezes and 10 partitions from etcd, or as many as BIGFLEET_LONG_MS allows.

import { test } from 'node:test';
import { assertZombieGaps, cutLeaderFromEtcd, freezeLeader } from './drills/zombie.ts';
import { longBoxMs, repeated } from './repeated.ts';
import { FailoverStage, IN_TIME } from './stage.ts';

test('10 freezes and 10 partitions of the leader', async (t) => {
  await using stage = await FailoverStage.start(IN_TIME);
  t.diagnostic(`partitions: ${stage.partitions.backend}`);
  const box = { withinMs: longBoxMs(0.5) };
  assertZombieGaps(await repeated(t, 'freeze', 10, () => freezeLeader(stage), box));
  assertZombieGaps(await repeated(t, 'partition', 10, () => cutLeaderFromEtcd(stage), box));
  stage.assertAssignmentsFlowed();
});
