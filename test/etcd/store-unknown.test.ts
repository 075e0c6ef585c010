// Proves on a real etcd that a commit whose answer is lost is resolved to what really happened, that
// "not committed" is final (a late request cannot slip in afterwards), and that the resolution never
// guesses while etcd is out of reach.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { EtcdClient } from '@bigfleet/coordinator/etcd';
import {
  type EtcdCluster,
  type EtcdEndpoint,
  eventually,
  type FaultProxy,
  HANG_MS,
  startFaultProxy,
} from '../toolkit/index.ts';
import { outsiderDelete, outsiderGet } from './gateway.ts';
import { command, createReplica, never, putShard, type Replica } from './replica.ts';
import { startEtcd } from './binaries.ts';

const runtime = realRuntime();
let etcd: EtcdCluster;
let at: EtcdEndpoint;
before(async () => {
  etcd = await startEtcd(1);
  at = etcd.member(0).endpoint;
});
after(() => etcd.stop());

interface Cut extends AsyncDisposable {
  readonly replica: Replica;
  readonly leadership: Awaited<ReturnType<Replica['store']['campaign']>>;
  /** The path of the first endpoint; the second one is direct. */
  readonly proxy: FaultProxy;
}

/** Leads through a proxy; when that fails, the client goes on directly. */
async function leadThroughProxy(prefix: string, isDirectToo: boolean): Promise<Cut> {
  const proxy = await startFaultProxy({ targetPort: Number(new URL(at.url).port) });
  const proxied = `127.0.0.1:${proxy.port}`;
  const endpoints = isDirectToo ? [proxied, at.url] : [proxied];
  const client = new EtcdClient({ runtime, endpoints });
  const replica = createReplica({ endpoints, prefix, client });
  await replica.store.open();
  const leadership = await replica.store.campaign(never);
  await replica.store.load(leadership);
  const dispose = async (): Promise<void> => {
    await replica.store.close();
    await proxy.stop();
  };
  return { replica, leadership, proxy, [Symbol.asyncDispose]: dispose };
}

const first = (withinMs: number) => command({ index: 0, writes: [putShard('s-1')], withinMs });
const second = () => command({ index: 1, writes: [putShard('s-2')] });

test('the answer is lost after the commit: committed, and the next command goes on', async () => {
  await using cut = await leadThroughProxy('/u-done/', true);
  const { store } = cut.replica;
  cut.proxy.fault('down', { silent: true });
  const request = first(1_000);
  assert.equal((await store.commit(cut.leadership, request)).kind, 'unknown');
  const { value } = await eventually(() => outsiderGet(at, '/u-done/shards/s-1'), {
    what: 'the commit',
  });
  assert.match(value, /"id":"s-1"/);
  assert.equal(await store.resolve(cut.leadership, request), 'committed');
  assert.deepEqual(await store.commit(cut.leadership, second()), { kind: 'committed' });
  const overwrite = command({ index: 2, writes: [putShard('s-1', 'moved:1')] });
  assert.deepEqual(await store.commit(cut.leadership, overwrite), { kind: 'committed' });
});

test('the request is lost: not committed, finally: a late copy of it fails its guards', async () => {
  await using cut = await leadThroughProxy('/u-lost/', true);
  const { store } = cut.replica;
  const before = await outsiderGet(at, '/u-lost/meta/apply');
  cut.proxy.fault('up', { silent: true });
  const request = first(1_000);
  assert.equal((await store.commit(cut.leadership, request)).kind, 'unknown');
  assert.equal(await store.resolve(cut.leadership, request), 'not-committed');
  const fenced = await outsiderGet(at, '/u-lost/meta/apply');
  assert.equal(fenced?.value, before?.value, 'the ledger says what it said');
  assert.ok((fenced?.modRevision ?? 0n) > (before?.modRevision ?? 0n), 'G3 of the late copy fails');
  // What the proxy held is delivered now.
  cut.proxy.fault('both', { silent: false });
  assert.equal(await outsiderGet(at, '/u-lost/shards/s-1'), undefined);
  assert.deepEqual(await store.commit(cut.leadership, first(HANG_MS)), { kind: 'committed' });
  assert.deepEqual(await store.commit(cut.leadership, second()), { kind: 'committed' });
});

test('somebody else leads meanwhile: deposed', async () => {
  await using cut = await leadThroughProxy('/u-deposed/', true);
  const { store } = cut.replica;
  cut.proxy.fault('up', { silent: true });
  const request = first(1_000);
  assert.equal((await store.commit(cut.leadership, request)).kind, 'unknown');
  await outsiderDelete(at, '/u-deposed/leader');
  assert.equal(await store.resolve(cut.leadership, request), 'deposed');
  assert.equal(cut.leadership.lost.reason, 'guard_failed');
});

test('etcd stays out of reach: unknown, until the window closes, then deposed', async () => {
  await using cut = await leadThroughProxy('/u-away/', false);
  const { store } = cut.replica;
  cut.proxy.fault('both', { silent: true });
  const request = first(1_000);
  assert.equal((await store.commit(cut.leadership, request)).kind, 'unknown');
  const seen: string[] = [];
  await eventually(
    async () => {
      seen.push(await store.resolve(cut.leadership, request));
      return seen.at(-1) === 'deposed';
    },
    { what: 'the end of the window' },
  );
  assert.deepEqual([...new Set(seen)], ['unknown', 'deposed']);
  assert.equal(cut.leadership.lost.reason, 'lease_lost');
});
