// Proves of the etcd client, against real servers: TLS and passwords, failover between endpoints
// when a member dies or freezes, that a transaction is never sent twice, and that a watch resumes
// where it was, or says that nobody can know what it missed.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BigFleetError } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { EtcdClient } from '@bigfleet/coordinator/etcd';
import { tlsFromFlags } from '@bigfleet/wire';
import { Event_EventType } from '@bigfleet/wire/etcd';
import {
  createPemDir,
  type EtcdCluster,
  type EtcdEndpoint,
  HANG_MS,
  mintPki,
} from '../toolkit/index.ts';
import { base64, gateway, outsiderPut } from './gateway.ts';
import { startEtcd } from './binaries.ts';

const runtime = realRuntime();
const limits = { deadlineMs: HANG_MS };
let etcd: EtcdCluster;
let at: EtcdEndpoint;
before(async () => {
  etcd = await startEtcd(3);
  at = etcd.member(0).endpoint;
});
after(() => etcd.stop());

const key = (text: string): Uint8Array => Buffer.from(text);

async function valueOf(client: EtcdClient, name: string): Promise<string | undefined> {
  const { kvs } = await client.range({ key: key(name) }, limits);
  const [found] = kvs;
  return found === undefined ? undefined : Buffer.from(found.value).toString();
}

function clientOf(endpoints: readonly string[]): EtcdClient & Disposable {
  const client = new EtcdClient({ runtime, endpoints });
  return Object.assign(client, { [Symbol.dispose]: () => client.close() });
}

const wrongEndpoints: readonly (readonly [string, RegExp])[] = [
  ['ftp://a:1', /http or https only/],
  ['http://a', /host and port/],
  ['http://user:secret@a:1', /endpoint "\*\*\*": it carries a user or password/],
  ['http://a:1/path', /nothing may follow the port/],
  ['https://a:1', /needs TLS files/],
  ['', /not a URL/],
];

for (const [endpoint, says] of wrongEndpoints) {
  test(`the endpoint ${endpoint === '' ? '(empty)' : endpoint.replace('secret', '…')} is refused`, () => {
    assert.throws(
      () => new EtcdClient({ runtime, endpoints: [endpoint] }),
      (error: unknown) => {
        assert.ok(error instanceof BigFleetError);
        assert.equal(error.code, 'etcd_bad_endpoint');
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /secret/);
        return true;
      },
    );
  });
}

test('a watch sees every change once, over the death of the member it watched', async () => {
  using client = clientOf(etcd.endpoints);
  const { header } = await client.range({ key: key('/w') }, limits);
  const stop = new AbortController();
  const startRevision = (header?.revision ?? 0n) + 1n;
  const batches = client.watch({ key: key('/w'), startRevision }, stop.signal);
  const seen: string[] = [];
  const readUntil = async (last: string): Promise<void> => {
    while (seen.at(-1) !== last) {
      const step = await batches.next();
      assert.ok(step.done !== true);
      for (const { type, kv } of step.value) {
        const isPut = type === Event_EventType.PUT;
        seen.push(isPut ? Buffer.from(kv?.value ?? []).toString() : 'deleted');
      }
    }
  };
  const survivor = etcd.member(2).endpoint;
  await outsiderPut(survivor, '/w', 'one');
  await readUntil('one');
  await etcd.member(0).kill();
  await etcd.put('/w', 'two');
  await etcd.put('/w', 'three');
  await gateway(survivor, 'kv/deleterange', { key: base64('/w') });
  await readUntil('deleted');
  assert.deepEqual(seen, ['one', 'two', 'three', 'deleted']);
  stop.abort(new Error('enough'));
  await assert.rejects(batches.next(), /enough/);
  await etcd.member(0).restart();
  await etcd.waitHealthy();
});

test('a watch of a compacted revision says so instead of skipping', async () => {
  await outsiderPut(at, '/c', 'one');
  await outsiderPut(at, '/c', 'two');
  const { header } = await gateway(at, 'kv/range', { key: base64('/c') });
  const revision = String((header as { revision?: unknown }).revision);
  await gateway(at, 'kv/compaction', { revision, physical: true });
  using client = clientOf([at.url]);
  const batches = client.watch({ key: key('/c'), startRevision: 1n }, new AbortController().signal);
  await assert.rejects(batches.next(), { code: 'etcd_compacted' });
  const old = client.range({ key: key('/c'), revision: 1n }, limits);
  await assert.rejects(old, { code: 'etcd_compacted' });
});

test('reads go on when the member in use freezes; a transaction is unknown, not repeated', async () => {
  using client = clientOf(etcd.endpoints);
  await etcd.put('/f', 'here');
  assert.equal(await valueOf(client, '/f'), 'here');
  await etcd.member(0).pause();
  try {
    const request = {
      success: [
        {
          request: { case: 'requestPut', value: { key: key('/f'), value: key('again') } },
        } as const,
      ],
    };
    const outcome = await client.txn(request, { deadlineMs: 400 });
    assert.equal(outcome.kind, 'unknown');
    assert.equal(await valueOf(client, '/f'), 'here');
    assert.equal(client.failoverCount, 1);
  } finally {
    await etcd.member(0).resume();
  }
  await etcd.waitHealthy();
});

test('an endpoint that refuses connections is left within one call', async () => {
  using client = clientOf(['127.0.0.1:1', at.url]);
  // A key of its own: the unknown outcome of the test before may still become a write.
  await client.put({ key: key('/left'), value: key('here') }, limits);
  assert.equal(await valueOf(client, '/left'), 'here');
  assert.equal(client.failoverCount, 1);
  using nobody = clientOf(['127.0.0.1:1', '127.0.0.1:2']);
  const asked = nobody.range({ key: key('/left') }, { deadlineMs: 300 });
  await assert.rejects(asked, { code: 'etcd_unavailable' });
});

test('a lease lives while it is renewed and is gone when revoked', async () => {
  using client = clientOf(etcd.endpoints);
  const lease = await client.leaseGrant(3_600, limits);
  assert.ok(lease.ttlMs >= 3_600_000);
  await client.put({ key: key('/lease'), value: key('v'), lease: lease.id }, limits);
  const renewed = await client.leaseKeepAlive(lease.id, limits);
  assert.ok(renewed.sentAtMs > lease.sentAtMs);
  await client.leaseRevoke(lease.id, limits);
  await client.leaseRevoke(lease.id, limits);
  assert.equal(await valueOf(client, '/lease'), undefined);
  await assert.rejects(client.leaseKeepAlive(lease.id, limits), { code: 'etcd_lease_gone' });
});

test('mutual TLS, and a user with a password that may be rotated', async () => {
  const pki = await mintPki();
  await using files = await createPemDir(await pki.fixture('admin'));
  const leaf = await pki.fixture('admin');
  const client = { ca: pki.caPem, cert: leaf.certPem, key: leaf.keyPem };
  const { certFile, keyFile, caFile } = files;
  await using secured = await startEtcd(1, { tls: { certFile, keyFile, caFile, client } });
  const { endpoint } = secured.member(0);
  const tls = tlsFromFlags({ cert: certFile, key: keyFile, ca: caFile, env: {} });
  assert.ok(tls !== 'plaintext');
  for (const path of ['user/add', 'role/add']) {
    await gateway(endpoint, `auth/${path}`, { name: 'root', password: 'first' });
  }
  await gateway(endpoint, 'auth/user/grant', { user: 'root', role: 'root' });
  await gateway(endpoint, 'auth/enable', {});
  let password = 'wrong';
  const user = { name: 'root', password: () => Promise.resolve(password) };
  const one = new EtcdClient({ runtime, endpoints: [endpoint.url], tls, user });
  await assert.rejects(one.range({ key: key('/a') }, limits), { code: 'etcd_refused' });
  password = 'first';
  await one.put({ key: key('/a'), value: key('v') }, limits);
  assert.equal(await valueOf(one, '/a'), 'v');
  // A restart forgets every simple token: the client asks for a new one by itself.
  await secured.member(0).restart();
  assert.equal(await valueOf(one, '/a'), 'v');
  one.close();
  const stranger = await pki.fixture('wrongCa');
  await using other = await createPemDir(stranger);
  const strange = tlsFromFlags({ cert: other.certFile, key: other.keyFile, ca: caFile, env: {} });
  assert.ok(strange !== 'plaintext');
  const two = new EtcdClient({ runtime, endpoints: [endpoint.url], tls: strange, user });
  const asked = two.range({ key: key('/a') }, { deadlineMs: 500 });
  await assert.rejects(asked, { code: 'etcd_unavailable' });
  two.close();
});
