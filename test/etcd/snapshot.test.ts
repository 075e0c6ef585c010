// Proves that a native snapshot is the database of etcd, whole and checked, and that a cluster
// restored from it by etcdutl leads with a higher term and ledger generation over the same rows.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { restoreSnapshot, SnapshotExporter } from '@bigfleet/coordinator';
import { etcdRestore } from '@bigfleet/coordinator/etcd';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { createTempDir, eventually } from '../toolkit/index.ts';
import { etcdBinaries, startEtcd } from './binaries.ts';
import { ManagedReplicas } from './managed-replicas.ts';
import { command, createReplica, never, putShard } from './replica.ts';

const { etcd: server, etcdutl } = etcdBinaries();
const skip = etcdutl === undefined && 'native restore needs etcdutl 3.6 (run: make etcd)';
const runtime = realRuntime();
const log = createLogger({ clock: runtime.clock, sink: captureSink() });

test('a snapshot has every acknowledged commit; damaged, it is not restored', {
  skip,
}, async () => {
  assert.ok(etcdutl !== undefined);
  await using folder = createTempDir('snapshot');
  await using etcd = await startEtcd(1);
  await using source = createReplica({ endpoints: etcd.endpoints, prefix: '/bigfleet/' });
  await source.store.open();
  const leadership = await source.store.campaign(never);
  await source.store.load(leadership);
  for (let index = 0; index < 20; index += 1) {
    const done = await source.store.commit(
      leadership,
      command({ index, writes: [putShard(`s-${index}`)] }),
    );
    assert.equal(done.kind, 'committed');
  }
  const before = await source.store.load(leadership);
  const { store } = source;
  const directory = join(folder.path, 'exports');
  const exporter = new SnapshotExporter({
    runtime,
    store,
    log,
    directory,
    intervalMs: 1,
    retain: 1,
  });
  assert.equal(await exporter.exportOnce(), 'exported');
  const state = join(directory, 'latest', 'state');
  assert.equal((await stat(state)).size % 512, 32, 'whole pages and the checksum');

  await using fleet = new ManagedReplicas();
  const replica = await fleet.add('c-0');
  const { dataDir } = replica;
  const tools = { runtime, etcd: server, etcdutl, hasPeerTls: false, prefix: '/bigfleet/' };
  const etcdTools = etcdRestore(tools);
  const into = { nodeId: 'c-0', raftAdvertise: replica.peerAddress };
  const damaged = { kind: 'native', file: join(folder.path, 'damaged') } as const;
  await writeFile(damaged.file, Buffer.alloc(65_536, 1));
  const built = join(folder.path, 'built');
  await assert.rejects(etcdTools({ dataDir, directory: built, ...into, source: damaged }), {
    code: 'etcd_restore_failed',
  });
  assert.equal(existsSync(built), false);
  const archive = join(directory, 'latest');
  const done = await restoreSnapshot({
    ...into,
    source: archive,
    dataDir,
    store: 'auto',
    log,
    etcd: etcdTools,
  });
  assert.deepEqual([done.engine, done.index, done.term], ['etcd', 20, leadership.term]);
  await replica.start({ bootstrap: false, restoreFile: join(dataDir, 'restore.json') });
  assert.deepEqual(replica.events[0], { kind: 'formation', formation: 'resume' });
  const restored = await eventually(() => replica.leadership, {
    what: 'a leader after the restore',
  });
  assert.equal(restored.term, leadership.term + 1_000n);
  const { meta, rows } = await replica.store.load(restored);
  assert.deepEqual(rows, before.rows);
  assert.equal(meta.ledgerGeneration, before.meta.ledgerGeneration + 1);
  assert.equal(meta.applyIndex, 20);
  const next = command({ index: 20, writes: [putShard('s-0', 'after:1')] });
  assert.deepEqual(await replica.store.commit(restored, next), { kind: 'committed' });
});
