// Proves of the rows of a logical snapshot in a new etcd: more than one transaction holds, below a
// path that is too long for a socket and with a peer name that nobody resolves, all arrive; and that
// without a usable etcd nothing is left behind.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { etcdRestore } from '@bigfleet/coordinator/etcd';
import { createTempDir, eventually } from '../toolkit/index.ts';
import { etcdBinaries } from './binaries.ts';
import { ManagedReplicas } from './managed-replicas.ts';

const { etcd } = etcdBinaries();
const tools = {
  runtime: realRuntime(),
  etcd,
  etcdutl: '/nowhere/etcdutl',
  hasPeerTls: true,
  prefix: '/bigfleet/',
};
type Build = Parameters<ReturnType<typeof etcdRestore>>[0];
type State = Extract<Build['source'], { kind: 'logical' }>['state'];

const ROWS = 250;
const rows: State['rows'] = Array.from({ length: ROWS }, (_, at) => {
  const id = `shard-${String(at).padStart(4, '0')}`;
  const row = { id, address: 'h:1', registered_at_ms: 1, uid: at + 1, max_epoch: '0' };
  return { table: 'shards', key: `shards/${id}`, value: JSON.stringify(row) };
});
const meta: State['meta'] = {
  schema: 1,
  clusterUid: 'the-fleet',
  term: 7n,
  applyIndex: ROWS,
  lastCommandId: 'last',
  assignmentRevision: 3,
  ledgerGeneration: 2,
};

function buildIn(dataDir: string): Build {
  mkdirSync(dataDir, { recursive: true });
  return {
    dataDir,
    directory: path.join(dataDir, 'etcd.new'),
    nodeId: 'c-0',
    raftAdvertise: 'c-0.nobody.invalid:7791',
    source: { kind: 'logical', state: { meta, rows } },
  };
}

test('all rows arrive, whatever the path and the peer name', async () => {
  await using folder = createTempDir('rows');
  const build = buildIn(path.join(folder.path, 'long'.repeat(30)));
  await etcdRestore(tools)(build);
  assert.deepEqual(readdirSync(build.dataDir), ['etcd.new'], 'nothing else is left');

  await using fleet = new ManagedReplicas();
  const replica = await fleet.add('c-0');
  mkdirSync(replica.dataDir);
  await rename(build.directory, path.join(replica.dataDir, 'etcd'));
  await replica.start({ bootstrap: false });
  const leadership = await eventually(() => replica.leadership, {
    what: 'a leader of what was built',
  });
  assert.equal(leadership.term, 8n);
  const loaded = await replica.store.load(leadership);
  assert.deepEqual(loaded.rows, rows);
  assert.deepEqual(loaded.meta, { ...meta, term: 8n });
});

for (const [what, binary] of [
  ['no etcd', '/nowhere/etcd'],
  ['a program that is no etcd', '/bin/false'],
] as const) {
  test(`${what}: refused, and nothing is left`, async () => {
    await using folder = createTempDir('rows');
    const build = buildIn(path.join(folder.path, 'data'));
    await assert.rejects(etcdRestore({ ...tools, etcd: binary })(build), {
      code: 'etcd_restore_failed',
    });
    assert.deepEqual(readdirSync(build.dataDir), []);
  });
}
