// Proves on a real etcd that every guard of a write refuses what it is there to refuse, that the
// refusal says which guard it was, and that a leader goes on after reloading.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EtcdCluster, EtcdEndpoint } from '../toolkit/index.ts';
import { base64, gateway, outsiderDelete, outsiderGet, outsiderPut } from './gateway.ts';
import { command, createReplica, deleteShard, never, putShard, type Replica } from './replica.ts';
import { startEtcd } from './binaries.ts';

let etcd: EtcdCluster;
let at: EtcdEndpoint;
before(async () => {
  etcd = await startEtcd(1);
  at = etcd.member(0).endpoint;
});
after(() => etcd.stop());

async function leading(prefix: string): Promise<{
  replica: Replica;
  leadership: Awaited<ReturnType<Replica['store']['campaign']>>;
}> {
  const replica = createReplica({ endpoints: etcd.endpoints, prefix });
  assert.equal(await replica.store.open(), 'ready');
  const leadership = await replica.store.campaign(never);
  await replica.store.load(leadership);
  const first = command({ index: 0, writes: [putShard('s-1'), putShard('s-2')] });
  assert.deepEqual(await replica.store.commit(leadership, first), { kind: 'committed' });
  return { replica, leadership };
}

interface Intrusion {
  readonly name: string;
  readonly intrude: (prefix: string) => Promise<void>;
  readonly writes: Parameters<typeof command>[0]['writes'];
  readonly reads?: readonly string[];
  readonly reason: 'deposed' | 'index_moved' | 'row_moved';
}

const intrusions: readonly Intrusion[] = [
  {
    name: 'the leader key is deleted (G1)',
    intrude: (prefix) => outsiderDelete(at, `${prefix}leader`),
    writes: [putShard('s-3')],
    reason: 'deposed',
  },
  {
    // Somebody else has led in between: the lease alone would not tell.
    name: 'the leader key is deleted and made anew with our lease (G1)',
    intrude: async (prefix) => {
      const key = `${prefix}leader`;
      const held = await outsiderGet(at, key);
      await outsiderDelete(at, key);
      const value = base64(held?.value ?? '');
      await gateway(at, 'kv/put', { key: base64(key), value, lease: held?.lease });
    },
    writes: [putShard('s-3')],
    reason: 'deposed',
  },
  {
    name: 'the leader key is written without our lease (G2)',
    intrude: async (prefix) => {
      const held = await outsiderGet(at, `${prefix}leader`);
      await outsiderPut(at, `${prefix}leader`, held?.value ?? '');
    },
    writes: [putShard('s-3')],
    reason: 'deposed',
  },
  {
    name: 'the lease is revoked',
    intrude: async (prefix) => {
      const held = await outsiderGet(at, `${prefix}leader`);
      await gateway(at, 'lease/revoke', { ID: held?.lease });
    },
    writes: [putShard('s-3')],
    reason: 'deposed',
  },
  {
    name: 'the apply record is written (G3)',
    intrude: async (prefix) => {
      const held = await outsiderGet(at, `${prefix}meta/apply`);
      await outsiderPut(at, `${prefix}meta/apply`, held?.value ?? '');
    },
    writes: [putShard('s-3')],
    reason: 'index_moved',
  },
  {
    name: 'a row to insert exists (G4)',
    intrude: (prefix) => outsiderPut(at, `${prefix}shards/s-3`, '{}'),
    writes: [putShard('s-3')],
    reason: 'row_moved',
  },
  {
    name: 'a row to overwrite was edited (G5)',
    intrude: (prefix) => outsiderPut(at, `${prefix}shards/s-1`, '{}'),
    writes: [putShard('s-1', 'elsewhere:1')],
    reason: 'row_moved',
  },
  {
    name: 'a row to delete was edited (G5)',
    intrude: (prefix) => outsiderPut(at, `${prefix}shards/s-1`, '{}'),
    writes: [deleteShard('s-1')],
    reason: 'row_moved',
  },
  {
    name: 'a row that the decision read was deleted',
    intrude: (prefix) => outsiderDelete(at, `${prefix}shards/s-2`),
    writes: [putShard('s-3')],
    reads: ['shards/s-2'],
    reason: 'row_moved',
  },
];

for (const [number, { name, intrude, writes, reads, reason }] of intrusions.entries()) {
  test(`${name}: ${reason}`, async () => {
    const prefix = `/guards-${number}/`;
    const { replica, leadership } = await leading(prefix);
    await using _closing = replica;
    await intrude(prefix);
    const request = command({ index: 1, writes, ...(reads === undefined ? {} : { reads }) });
    const refused = await replica.store.commit(leadership, request);
    assert.deepEqual(refused, { kind: 'refused', reason });
    const isDeposed = reason === 'deposed';
    assert.equal(leadership.lost.aborted, isDeposed);
    assert.equal(leadership.lost.reason, isDeposed ? 'guard_failed' : undefined);
    const stored = await outsiderGet(at, `${prefix}meta/apply`);
    assert.match(stored?.value ?? '', /"index":1,/, 'nothing was written');
    if (isDeposed) return;
    await replica.store.load(leadership);
    assert.deepEqual(await replica.store.commit(leadership, request), { kind: 'committed' });
  });
}

test('a command that nothing disturbs writes its rows and moves the apply record with them', async () => {
  const { replica, leadership } = await leading('/guards-none/');
  await using _closing = replica;
  const writes = [deleteShard('s-1'), putShard('s-2', 'moved:1'), putShard('s/3%')];
  const request = command({ index: 1, writes, reads: ['shards/s-2', 'shards/absent'] });
  assert.deepEqual(await replica.store.commit(leadership, request), { kind: 'committed' });
  const { meta, rows } = await replica.store.load(leadership);
  assert.equal(meta.applyIndex, 2);
  assert.equal(meta.lastCommandId, 'command-2');
  assert.equal(meta.assignmentRevision, 2);
  assert.deepEqual(rows.map(({ key }) => key).sort(), ['shards/s%2F3%25', 'shards/s-2']);
});

test('a command of the wrong index or a passed deadline is not sent', async () => {
  const { replica, leadership } = await leading('/guards-early/');
  await using _closing = replica;
  const wrong = command({ index: 5, writes: [putShard('s-9')] });
  assert.deepEqual(await replica.store.commit(leadership, wrong), {
    kind: 'refused',
    reason: 'index_moved',
  });
  const late = command({ index: 1, writes: [putShard('s-9')], withinMs: -1 });
  assert.equal((await replica.store.commit(leadership, late)).kind, 'failed');
  const many = Array.from({ length: 128 }, (_, each) => putShard(`many-${each}`));
  const large = await replica.store.commit(leadership, command({ index: 1, writes: many }));
  assert.equal(large.kind, 'failed');
  assert.equal((await replica.store.load(leadership)).meta.applyIndex, 1);
});

test('without space every write fails definitely, and the status says why', async () => {
  const { replica, leadership } = await leading('/guards-space/');
  await using _closing = replica;
  await gateway(at, 'maintenance/alarm', { action: 'ACTIVATE', memberID: 0, alarm: 'NOSPACE' });
  const request = command({ index: 1, writes: [putShard('s-3')] });
  const failed = await replica.store.commit(leadership, request);
  assert.equal(failed.kind, 'failed');
  assert.match(failed.kind === 'failed' ? failed.error.message : '', /space exceeded/);
  assert.match((await replica.store.status()).alarms.join(), /^etcd NOSPACE on /);
  await gateway(at, 'maintenance/alarm', { action: 'DEACTIVATE', memberID: 0, alarm: 'NOSPACE' });
  assert.deepEqual(await replica.store.commit(leadership, request), { kind: 'committed' });
  assert.deepEqual((await replica.store.status()).alarms, []);
});

test('dead rows are swept in batches; one that somebody touched is kept', async () => {
  const prefix = '/guards-sweep/';
  const { replica, leadership } = await leading(prefix);
  await using _closing = replica;
  const ids = Array.from({ length: 250 }, (_, each) => `dead-${String(each).padStart(3, '0')}`);
  for (let from = 0, index = 1; from < ids.length; from += 50, index += 1) {
    const writes = ids.slice(from, from + 50).map((id) => putShard(id));
    const done = await replica.store.commit(leadership, command({ index, writes }));
    assert.equal(done.kind, 'committed');
  }
  await outsiderPut(at, `${prefix}shards/dead-249`, '{}');
  const keys = ids.map((id) => `shards/${id}`);
  await replica.store.gc(leadership, [...keys, 'shards/never-there']);
  const { rows } = await replica.store.load(leadership);
  const left = rows.map(({ key }) => key).filter((key) => key.startsWith('shards/dead'));
  assert.deepEqual(left, keys.slice(200), 'the batch with the touched row stays whole');
  await replica.store.gc(leadership, keys);
  assert.equal((await replica.store.load(leadership)).rows.length, 2);
  assert.equal(leadership.lost.aborted, false);
});
