// Proves failover on real processes (coordinator §11): three coordinators on a three-node etcd, under
// reads, writes, reports and assignments. The leases are patient, so that a stall of the machine costs no
// leader its lease: every drill takes one election. The *.long.ts files repeat each drill more often, with
// the lease of production. How long a gap was is on record only.

import { test } from 'node:test';
import { stopLeader } from './drills/hand-over.ts';
import { assertSeenDead, killLeader } from './drills/kill.ts';
import { loseQuorum } from './drills/quorum-loss.ts';
import { revokeLeaderLease } from './drills/revoke.ts';
import { restartAll } from './drills/rolling.ts';
import { cutLeaderFromEtcd, freezeLeader } from './drills/zombie.ts';
import { repeated } from './repeated.ts';
import { FailoverStage, PATIENT_TTL_MS } from './stage.ts';

test('a coordinator fails, and another goes on', async (t) => {
  await using stage = await FailoverStage.start({ leaseTtlMs: PATIENT_TTL_MS });
  t.diagnostic(`partitions: ${stage.partitions.backend}`);
  await t.test('SIGKILL of the leader, 5 times', async (at) => {
    assertSeenDead(await repeated(at, 'kill', 5, () => killLeader(stage)));
  });
  await t.test('SIGTERM of the leader', async (at) => {
    await repeated(at, 'hand-over', 1, () => stopLeader(stage));
  });
  await t.test('the leader is frozen beyond its lease', async (at) => {
    await repeated(at, 'freeze', 1, () => freezeLeader(stage));
  });
  await t.test('the leader is cut from etcd', async (at) => {
    await repeated(at, 'partition', 1, () => cutLeaderFromEtcd(stage));
  });
  await t.test("a healthy leader's lease is revoked", async (at) => {
    await repeated(at, 'revoke', 2, () => revokeLeaderLease(stage));
  });
  await t.test('all replicas are restarted one by one', async (at) => {
    await repeated(at, 'rolling', 1, () => restartAll(stage));
  });
  await t.test('etcd loses its quorum for 20 s', async (at) => {
    await repeated(at, 'quorum-loss', 1, () => loseQuorum(stage, 20_000));
  });
  stage.assertAssignmentsFlowed();
});
