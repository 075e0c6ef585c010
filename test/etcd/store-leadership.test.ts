// Proves on a real etcd who may lead and since when: terms that only rise, hand-over, dead
// predecessors, the fast path for dead leaders and its refusal to act on silence, and that a leader
// which is cut off or frozen stops by itself.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { EtcdClient } from '@bigfleet/coordinator/etcd';
import {
  type Channel,
  createGrpcChannel,
  createGrpcServer,
  type GrpcServer,
  Health,
  HealthRegistry,
  openGate,
  Router,
} from '@bigfleet/wire';
import {
  createTempDir,
  type EtcdCluster,
  type EtcdEndpoint,
  leasePort,
  monotonicMs,
  startFaultProxy,
} from '../toolkit/index.ts';
import { gateway, outsiderDelete, outsiderGet, outsiderPut } from './gateway.ts';
import {
  command,
  createReplica,
  never,
  putShard,
  type Replica,
  type ReplicaOptions,
} from './replica.ts';
import { startEtcd } from './binaries.ts';

const runtime = realRuntime();
/** Of a lease that ends in no test: who waited for it would hang. */
const NO_END_MS = 3_600_000;
let etcd: EtcdCluster;
let at: EtcdEndpoint;
before(async () => {
  etcd = await startEtcd(1);
  at = etcd.member(0).endpoint;
});
after(() => etcd.stop());

function replicaOf(prefix: string, options: Partial<ReplicaOptions> = {}): Replica {
  return createReplica({ endpoints: etcd.endpoints, prefix, ...options });
}

test('an empty store without bootstrap opens as empty and lets nobody campaign', async () => {
  await using replica = replicaOf('/l-empty/', { bootstrap: false });
  assert.equal(await replica.store.open(), 'empty');
  await assert.rejects(replica.store.campaign(never), { code: 'coordinator_store_empty' });
  assert.equal(await replica.store.leader(), undefined);
  assert.equal(await replica.store.snapshot('native'), undefined);
});

test('a store of another schema is refused before anything is read', async () => {
  await outsiderPut(at, '/l-schema/meta/schema', '2');
  await using replica = replicaOf('/l-schema/');
  await assert.rejects(replica.store.open(), { code: 'coordinator_store_newer' });
  await assert.rejects(replica.store.campaign(never), { code: 'coordinator_store_newer' });
});

test('three replicas that all may bootstrap write one cluster uid', async () => {
  const replicas = [1, 2, 3].map((id) => replicaOf('/l-boot/', { nodeId: `node-${id}` }));
  await Promise.all(replicas.map(({ store }) => store.open()));
  const uids = await Promise.all(
    replicas.map(async ({ store }) => (await store.status()).clusterUid),
  );
  assert.equal(new Set(uids).size, 1);
  assert.match(uids[0] ?? '', /^[0-9a-f]{32}$/);
  for (const { store } of replicas) await store.close();
});

test('each leadership has a higher term, never below the Raft term or the floor', async () => {
  await using one = replicaOf('/l-term/', { nodeId: 'node-1', leaderLeaseTtlMs: NO_END_MS });
  await using two = replicaOf('/l-term/', { nodeId: 'node-2' });
  await one.store.open();
  await two.store.open();
  const first = await one.store.campaign(never);
  const { storeRaftTerm } = await one.store.status();
  assert.ok(first.term >= storeRaftTerm && first.term >= 1n, `${first.term} < ${storeRaftTerm}`);
  const waiting = two.store.campaign(never, 499n);
  assert.deepEqual(await two.store.leader(), {
    nodeId: 'node-1',
    grpcAddress: '127.0.0.1:1',
    term: first.term,
  });
  await one.store.resign(first);
  const second = await waiting;
  assert.equal(second.term, 500n, 'above the floor');
  await two.store.resign(second);
  const third = await one.store.campaign(never);
  assert.equal(third.term, 501n);
  assert.deepEqual(one.events, [`won ${first.term}`, 'lost resigned', 'won 501']);
});

test('a deposed leader is refused everything, however late it comes', async () => {
  await using one = replicaOf('/l-zombie/', { nodeId: 'node-1' });
  await using two = replicaOf('/l-zombie/', { nodeId: 'node-2' });
  await one.store.open();
  const first = await one.store.campaign(never);
  await one.store.load(first);
  await outsiderDelete(at, '/l-zombie/leader');
  const second = await two.store.campaign(never);
  await two.store.load(second);
  assert.ok(first.isWithinWindow(), 'it still believes to lead');
  assert.equal(await one.store.confirm(first), 'deposed');
  assert.equal(await two.store.confirm(second), 'leading');
  const request = command({ index: 0, writes: [putShard('s-1')] });
  assert.deepEqual(await one.store.commit(first, request), { kind: 'refused', reason: 'deposed' });
  assert.deepEqual(await two.store.commit(second, request), { kind: 'committed' });
  await one.store.resign(first);
  assert.equal(await two.store.confirm(second), 'leading', 'resigning late took nothing away');
});

test('a replica that finds its own node id in the leader key revokes that lease at once', async () => {
  const prefix = '/l-self/';
  const dead = replicaOf(prefix, { leaderLeaseTtlMs: NO_END_MS });
  await dead.store.open();
  const first = await dead.store.campaign(never);
  await dead.store.close();
  assert.ok((await outsiderGet(at, `${prefix}leader`)) !== undefined, 'closed without resigning');
  await using next = replicaOf(prefix);
  const second = await next.store.campaign(never);
  assert.ok(second.term > first.term);
  assert.deepEqual(next.events, ['revoked', `won ${second.term}`]);
});

async function healthServer(port: number): Promise<GrpcServer> {
  const router = new Router({ gate: openGate }).add(Health, new HealthRegistry().handlers);
  const listen = [`127.0.0.1:${port}`];
  const server = createGrpcServer({ runtime, router, listen, stopGraceMs: 0 });
  await server.bind();
  return server;
}

const dialLeader = (target: string): Channel =>
  createGrpcChannel({ runtime, target, keepalive: { timeMs: 1_000, timeoutMs: 1_000 } });

test('a leader whose process is gone is replaced without waiting for its TTL', async () => {
  await using lease = await leasePort();
  const server = await healthServer(lease.port);
  const grpcAddress = `127.0.0.1:${lease.port}`;
  const prefix = '/l-dead/';
  const one = replicaOf(prefix, { nodeId: 'node-1', grpcAddress, leaderLeaseTtlMs: NO_END_MS });
  await using two = replicaOf(prefix, { nodeId: 'node-2', dialLeader });
  await one.store.open();
  const first = await one.store.campaign(never);
  const waiting = two.store.campaign(never);
  assert.equal(await Promise.race([waiting.then(() => 'won'), settled(two)]), 'waits');
  // The process dies: its port closes, nobody renews, nobody resigns.
  await server.stop();
  await one.store.close();
  const second = await waiting;
  assert.ok(second.term > first.term);
  assert.deepEqual(two.events, ['revoked', `won ${second.term}`]);
});

/** Long enough for a follower to have opened its health stream. */
async function settled({ store }: { store: { leader(): Promise<unknown> } }): Promise<'waits'> {
  for (let each = 0; each < 50; each += 1) await store.leader();
  return 'waits';
}

test('silence is no evidence of death: the lease of a leader that hangs is left to its TTL', async () => {
  await using lease = await leasePort();
  const server = await healthServer(lease.port);
  await using proxy = await startFaultProxy({ targetPort: lease.port });
  const prefix = '/l-silent/';
  const grpcAddress = `127.0.0.1:${proxy.port}`;
  await using one = replicaOf(prefix, { nodeId: 'node-1', grpcAddress, leaderLeaseTtlMs: 30_000 });
  await using two = replicaOf(prefix, { nodeId: 'node-2', dialLeader });
  await one.store.open();
  const first = await one.store.campaign(never);
  const given = new AbortController();
  const waiting = two.store.campaign(given.signal);
  await settled(two);
  proxy.fault('both', { silent: true });
  proxy.reset();
  // Two keep-alive periods of the stream and every re-dial fit into this.
  const untilMs = monotonicMs() + 3_000;
  while (monotonicMs() < untilMs) assert.equal(await one.store.confirm(first), 'leading');
  assert.deepEqual(two.events, []);
  given.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  await server.stop();
});

test('a restore floor is folded into the first election and then gone', async () => {
  await using folder = createTempDir('restore');
  const restoreFile = join(folder.path, 'restore.json');
  await writeFile(restoreFile, '{"term":"7000","ledger_generation":4}');
  await using replica = replicaOf('/l-restore/', { restoreFile });
  await replica.store.open();
  const leadership = await replica.store.campaign(never);
  assert.equal(leadership.term, 7_000n);
  assert.equal((await replica.store.load(leadership)).meta.ledgerGeneration, 4);
  assert.equal(existsSync(restoreFile), false);
  // An archive that does not say its generation: the stored one is raised all the same.
  await writeFile(restoreFile, '{"term":"1","ledger_generation":0}');
  const next = await replica.store.campaign(never);
  assert.equal(next.term, 7_001n);
  assert.equal((await replica.store.load(next)).meta.ledgerGeneration, 5);
});

test('a leader that etcd does not answer closes its window before the lease can end', async () => {
  await using proxy = await startFaultProxy({ targetPort: Number(new URL(at.url).port) });
  const client = new EtcdClient({ runtime, endpoints: [`127.0.0.1:${proxy.port}`] });
  await using replica = replicaOf('/l-cut/', { client, leaderLeaseTtlMs: 6_000 });
  await replica.store.open();
  const leadership = await replica.store.campaign(never);
  await replica.store.load(leadership);
  proxy.fault('both', { silent: true });
  const confirming = replica.store.confirm(leadership);
  await new Promise<void>((resolve) => {
    leadership.lost.addEventListener('abort', () => resolve(), { once: true });
  });
  assert.equal(leadership.lost.reason, 'lease_lost');
  assert.equal(leadership.isWithinWindow(), false);
  assert.notEqual(await confirming, 'leading');
  assert.equal(await replica.store.confirm(leadership), 'deposed');
  assert.ok(
    (await outsiderGet(at, '/l-cut/leader')) !== undefined,
    'the lease outlives the window',
  );
  const request = command({ index: 0, writes: [putShard('s-1')] });
  assert.equal((await replica.store.commit(leadership, request)).kind, 'refused');
});

test('a leadership is renewed for longer than its TTL while etcd answers', async () => {
  await using replica = replicaOf('/l-renew/', { leaderLeaseTtlMs: 6_000 });
  await replica.store.open();
  const leadership = await replica.store.campaign(never);
  const untilMs = monotonicMs() + 7_000;
  while (monotonicMs() < untilMs) {
    assert.ok(leadership.isWithinWindow());
    assert.equal(await replica.store.confirm(leadership), 'leading');
  }
  const { lease } = (await outsiderGet(at, '/l-renew/leader')) ?? { lease: '0' };
  await gateway(at, 'lease/revoke', { ID: lease });
  assert.equal(await replica.store.confirm(leadership), 'deposed');
  // By the look or by a renewal, whichever came first; once in either case.
  const [won, lost, ...further] = replica.events;
  assert.equal(won, `won ${leadership.term}`);
  assert.match(lost ?? '', /^lost (?:guard_failed|lease_lost)$/);
  assert.deepEqual(further, []);
});
