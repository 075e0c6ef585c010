// Proves that a real three-node etcd cluster starts, takes writes through any member, survives
// the kill of its leader, takes the member back with its data, and can require certificates.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { startEtcd } from './etcd.ts';
import { etcdGet, etcdHealthy, etcdPut } from './etcd-gateway.ts';
import { createPemDir } from './pem-dir.ts';
import { mintPki } from './pki-fixtures.ts';
import { monotonicMs } from './real-time.ts';

test('three members: write, kill the leader, write, restart it, stop', async (t) => {
  const startMs = monotonicMs();
  await using cluster = await startEtcd();
  t.diagnostic(`healthy after ${Math.round(monotonicMs() - startMs)} ms`);
  assert.equal(cluster.endpoints.length, 3);

  const first = await cluster.put('/a', 'one');
  for (const member of cluster.members) assert.equal(await etcdGet(member.endpoint, '/a'), 'one');
  assert.equal(await cluster.get('/missing'), undefined);

  const leader = await cluster.leader();
  const { raftTerm } = await leader.status();
  const killMs = monotonicMs();
  assert.deepEqual(await leader.kill(), { kind: 'signal', signal: 'SIGKILL' });
  await assert.rejects(etcdHealthy(leader.endpoint), /ECONNREFUSED/);
  const second = await cluster.put('/a', 'two');
  t.diagnostic(`first write ${Math.round(monotonicMs() - killMs)} ms after killing the leader`);
  assert.ok(second > first);
  const next = await cluster.leader();
  assert.notEqual(next.name, leader.name);
  assert.ok((await next.status()).raftTerm > raftTerm);

  await leader.restart();
  await cluster.waitHealthy();
  assert.equal(await etcdGet(leader.endpoint, '/a'), 'two');

  const { dataDir } = leader;
  assert.ok(existsSync(dataDir));
  await cluster.stop();
  assert.equal(existsSync(dataDir), false);
});

test('without a quorum, paused or killed, nothing is written; with it again, all is well', async () => {
  await using cluster = await startEtcd({ heartbeatMs: 50, electionMs: 300 });
  await cluster.put('/b', 'before');
  const [one, two, three] = [cluster.member(0), cluster.member(1), cluster.member(2)];
  await two.pause();
  await three.kill();
  await assert.rejects(etcdPut(one.endpoint, '/b', 'lost', 700));
  await two.resume();
  await cluster.put('/b', 'after');
  await three.restart();
  await cluster.waitHealthy();
  assert.equal(await etcdGet(three.endpoint, '/b'), 'after');
});

test('with TLS, only a certificate of the CA gets in', async () => {
  const pki = await mintPki();
  const leaf = await pki.fixture('admin');
  await using files = await createPemDir(leaf);
  const client = { ca: pki.caPem, cert: leaf.certPem, key: leaf.keyPem };
  const { certFile, keyFile, caFile } = files;
  await using cluster = await startEtcd({
    memberCount: 1,
    tls: { certFile, keyFile, caFile, client },
  });
  await cluster.put('/c', 'secret');
  const { url } = cluster.member(0).endpoint;
  assert.match(url, /^https:/);
  assert.equal(await etcdGet({ url, tls: client }, '/c'), 'secret');
  const wrong = await pki.fixture('wrongCa');
  const stranger = { ca: pki.caPem, cert: wrong.certPem, key: wrong.keyPem };
  await assert.rejects(etcdGet({ url, tls: stranger }, '/c'));
});

test('a cluster that cannot start says why and leaves nothing', async () => {
  const nowhere = {
    address: '203.0.113.1',
    command: (command: string, args: readonly string[]) => ({ command, args }),
  };
  await assert.rejects(
    startEtcd({ memberCount: 1, places: [nowhere] }),
    /etcd-0 healthy: it ended[\s\S]*203\.0\.113\.1/,
  );
});
