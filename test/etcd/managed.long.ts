// Proves of managed etcd, with real child processes: one cluster forms from three replicas that all
// may bootstrap, a killed child is started again, and a replica that lost its volume joins the
// others under a new member id instead of minting a second cluster. Long because etcd itself lets
// membership change only after its members were connected for five seconds.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CertificateAuthority, createPemDir, eventually } from '../toolkit/index.ts';
import { ManagedReplicas, untilVoters } from './managed-replicas.ts';
import { command, putShard } from './replica.ts';

test('three replicas, one cluster; killed children and lost volumes heal', async () => {
  await using fleet = new ManagedReplicas();
  await formAndHeal(fleet);
});

test('the same over TLS, with the host name of coordinators pinned', async () => {
  const allowedHost = '*.coordinators.test';
  const ca = await CertificateAuthority.root();
  const leaf = await ca.leaf({ dnsNames: [allowedHost], ips: ['127.0.0.1'] });
  await using files = await createPemDir(leaf);
  const { certFile, keyFile, caFile } = files;
  await using fleet = new ManagedReplicas({ certFile, keyFile, caFile, allowedHost });
  await formAndHeal(fleet);
});

async function formAndHeal(fleet: ManagedReplicas): Promise<void> {
  const [zero, one, two] = [await fleet.add('c-0'), await fleet.add('c-1'), await fleet.add('c-2')];
  // All three get identical arguments.
  await zero.start({ bootstrap: true });
  await eventually(() => zero.leadership !== undefined, { what: 'a leader' });
  await Promise.all([one, two].map((replica) => replica.start({ bootstrap: true })));
  const all = ['c-0', 'c-1', 'c-2'];
  const formed = await untilVoters(one, all);
  assert.deepEqual(
    [zero, one, two].map(({ events }) => events[0]),
    ['bootstrap', 'join', 'join'].map((formation) => ({ kind: 'formation', formation })),
  );
  const uids = await Promise.all(
    [zero, one, two].map(async ({ store }) => (await store.status()).clusterUid),
  );
  assert.equal(new Set(uids).size, 1);
  const { leadership } = zero;
  assert.ok(leadership !== undefined);
  await zero.store.load(leadership);
  const written = command({ index: 0, writes: [putShard('s-1')] });
  assert.deepEqual(await zero.store.commit(leadership, written), { kind: 'committed' });

  const pid = await one.etcdPid();
  process.kill(pid, 'SIGKILL');
  await eventually(
    async () => (await one.etcdPid()) !== pid && (await one.store.leader()) !== undefined,
    {
      what: 'c-1 back through its own member',
    },
  );
  assert.deepEqual(
    one.events.filter(({ kind }) => kind === 'ended').length,
    1,
    'started again exactly once',
  );

  await zero.stop();
  await rm(join(zero.dataDir, 'etcd'), { recursive: true });
  await eventually(() => fleet.leader() !== undefined, {
    what: 'another leader',
  });
  zero.events.length = 0;
  await zero.start({ bootstrap: true });
  assert.deepEqual(zero.events[0], { kind: 'formation', formation: 'join' });
  const healed = await untilVoters(one, all);
  assert.notEqual(healed.ids.get('c-0'), formed.ids.get('c-0'), 'a new member id');
  assert.equal(healed.ids.get('c-1'), formed.ids.get('c-1'));
  assert.equal((await zero.store.status()).clusterUid, uids[0]);
  assert.equal((await zero.store.status()).applyIndex, 1);
}
