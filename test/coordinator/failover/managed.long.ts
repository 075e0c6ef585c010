// Proves managed mode on real processes: three replicas with identical arguments, each with
// --bootstrap, form one cluster of three voting members; when the leader dies together with its etcd,
// admin calls go on; and ordinal 0 that lost its volume joins the others again, under a new member id,
// instead of minting a second cluster. Long because forming takes a minute: ordinal 0 asks for others
// for 30 s before it begins, and who joins asks again at growing intervals.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { test } from 'node:test';
import { monotonicMs } from '../../toolkit/index.ts';
import { ManagedStage } from './managed-stage.ts';

const WRITTEN = { clusterId: 'kept', shardId: 'value-3', force: false };

test('one cluster of three survives its leader, and ordinal 0 without its volume', async (t) => {
  const startedAtMs = monotonicMs();
  await using stage = await ManagedStage.start();
  const formedAfterMs = Math.round(monotonicMs() - startedAtMs);
  const [uid] = await stage.clusterUids();
  const gapMs = await killLeader(stage);
  await (await stage.leader()).replica.admin.bindCluster(WRITTEN);
  const rejoinedAfterMs = await loseVolumeOfZero(stage);
  assert.deepEqual([...(await stage.clusterUids())], [uid]);
  const { bindings } = await (await stage.leader()).replica.admin.listClusterBindings({});
  const kept = bindings.find(({ clusterId }) => clusterId === WRITTEN.clusterId);
  assert.equal(kept?.shardId, WRITTEN.shardId);
  const samples = [{ formedAfterMs, gapMs, rejoinedAfterMs }];
  t.diagnostic(JSON.stringify({ drill: 'managed', samples }));
});

async function killLeader(stage: ManagedStage): Promise<number> {
  const before = await stage.leader();
  await using load = stage.startLoad('managed-kill');
  await load.servedAfter(monotonicMs(), '');
  const killedAtMs = monotonicMs();
  before.replica.process.signal('SIGKILL');
  const served = await load.servedAfter(killedAtMs, before.replica.nodeId);
  await before.replica.waitExit();
  await before.replica.start();
  await stage.untilFormed();
  await load.finish();
  const after = await stage.leader();
  assert.ok(after.term > before.term, `term ${after.term} after ${before.term}`);
  return Math.round(served.returnedAtMs - killedAtMs);
}

async function loseVolumeOfZero(stage: ManagedStage): Promise<number> {
  const before = await stage.voters();
  const zero = stage.replica('managed-0');
  await using load = stage.startLoad('managed-volume');
  const lostAtMs = monotonicMs();
  zero.process.signal('SIGKILL');
  await zero.waitExit();
  await rm(zero.dataDir, { recursive: true });
  await zero.start();
  await stage.untilFormed();
  await load.finish();
  const after = await stage.voters();
  assert.notEqual(after.get('managed-0'), before.get('managed-0'), 'a new member id');
  assert.equal(after.get('managed-1'), before.get('managed-1'));
  return Math.round(monotonicMs() - lostAtMs);
}
