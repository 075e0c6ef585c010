// Proves the ways of a fleet's state between engines with real processes and real etcd (coordinator
// §3.7, §10.3): SQLite to managed etcd by a logical snapshot, etcd to etcd by its native one, etcd
// back to SQLite; each time the same rows under a higher term and generation, which a shard that
// lived through it follows.

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../toolkit/index.ts';
import { etcdBinaries } from '../etcd/binaries.ts';
import { type Contents, MigratingFleet } from './migrating-fleet.ts';

const { etcdutl } = etcdBinaries();

/** SQLite, with rows of several tables, and a shard that heard its term. */
async function begin(fleet: MigratingFleet): Promise<Contents> {
  await fleet.start('sqlite', 'sqlite', ['--bootstrap']);
  await fleet.startShard();
  const { admin, coordinator } = fleet.coordinator;
  await eventually(async () => (await coordinator.listShards({})).shards.length === 1, {
    what: 'the shard is registered',
  });
  const provider = { name: 'lab', address: '127.0.0.1:9', region: 'lab' };
  await admin.registerProvider({ provider });
  await admin.setQuota({ provider: 'lab', region: 'lab', perShard: { 'shard-0': 7 } });
  await admin.bindCluster({ clusterId: 'blue', shardId: 'shard-0' });
  return fleet.save('first.tar');
}

function assertMoved(before: Contents, after: Contents): void {
  assert.equal(after.rows, before.rows);
  assert.equal(after.clusterUid, before.clusterUid);
  assert.equal(after.generation, before.generation + 1);
  assert.ok(after.term >= before.term + 1_000n, `${before.term} → ${after.term}`);
}

async function moved(
  fleet: MigratingFleet,
  before: Contents,
  to: { archive: string; home: string; engine: 'sqlite' | 'etcd' },
): Promise<Contents> {
  await fleet.stop();
  const restored = await fleet.restore(to.archive, to.home, to.engine);
  assert.equal(restored.code, 0, restored.err);
  assert.match(restored.out, /^restored snapshot index=\d+ term=\d+ into .* as single-voter /);
  await fleet.start(to.home, to.engine);
  const after = await fleet.save(`of-${to.home}.tar`);
  assertMoved(before, after);
  await fleet.untilShardFollows(after.term);
  return after;
}

test('a fleet moves from SQLite to etcd, to another etcd, and back', async (t) => {
  await using fleet = await MigratingFleet.open();
  let at = await begin(fleet);
  assert.match(at.rows, /"blue":"shard-0"/);
  await t.test('SQLite to etcd, logical', async () => {
    at = await moved(fleet, at, { archive: 'first.tar', home: 'etcd', engine: 'etcd' });
    const names = readdirSync(fleet.at('etcd')).sort();
    const kept = ['coordinator.lock', 'etcd', 'etcd.pid', 'restored-generation'];
    assert.deepEqual(names, kept, 'restore.json was folded in');
  });
  let last = 'of-etcd.tar';
  const skip = etcdutl === undefined && 'native restore needs etcdutl 3.6 (run: make etcd)';
  await t.test('etcd to etcd, native', { skip }, async () => {
    await fleet.ctl(`snapshot save ${fleet.at('native.tar')}`);
    at = await moved(fleet, at, { archive: 'native.tar', home: 'native', engine: 'etcd' });
    last = 'of-native.tar';
  });
  await t.test('etcd to SQLite, logical', async () => {
    at = await moved(fleet, at, { archive: last, home: 'back', engine: 'sqlite' });
  });
});
