// Proves offline restore (coordinator §10.3): the state comes back with a higher term and ledger
// generation, nothing is touched before the archive was checked, and a restore cut off at any step
// leaves either the old state or a directory that no coordinator starts in until it is run again.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import { captureSink, createLogger } from '@bigfleet/telemetry';
import { openLedger } from '../ledger/apply-queue.ts';
import type { CommandBody } from '../state/commands.ts';
import type { FleetState, FleetView } from '../state/fleet-state.ts';
import type { Meta } from '../state/rows.ts';
import { FIRST_META } from '../state/testing/state-machine.ts';
import { takeDataDir } from '../store/data-dir.ts';
import { encodeLogical } from '../store/logical-snapshot.ts';
import { SqliteStore } from '../store/sqlite/sqlite-store.ts';
import type { EtcdBuild } from './restore-into-engine.ts';
import { type RestoreOptions, restoreSnapshot } from './restore-snapshot.ts';
import type { SnapshotMeta } from './snapshot-meta.ts';
import { spoolSnapshot } from './spool.ts';
import { writeSnapshotTar } from './testing/write-tar.ts';

const runtime = realRuntime();
const never = new AbortController().signal;
const sink = captureSink();
const log = createLogger({ clock: runtime.clock, sink });

function folder(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'coordinator-restore-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function storeIn(dataDir: string, bootstrap: boolean): SqliteStore {
  return new SqliteStore({ runtime, dataDir, nodeId: 'n0', grpcAddress: 'n0:1', bootstrap });
}

const shard = (id: string): CommandBody => ({
  kind: 'AddShard',
  id,
  address: 'h:1',
  registeredAtMs: 1,
});

/** A coordinator's life in `dataDir`: some commands; a snapshot in the middle if asked for. */
async function live(
  dataDir: string,
  bodies: readonly CommandBody[],
  save?: { readonly target: string; readonly format: 'native' | 'logical' },
): Promise<FleetView> {
  const store = storeIn(dataDir, true);
  await store.open();
  const ledger = await openLedger({ runtime, store, leadership: await store.campaign(never), log });
  for (const body of bodies) assert.equal((await ledger.apply(body)).kind, 'applied');
  if (save !== undefined) {
    const snapshot = (await store.snapshot(save.format)) ?? assert.fail('no snapshot');
    const stateFile = `${save.target}.spool`;
    const meta = await spoolSnapshot(snapshot, { runtime, engine: 'sqlite', file: stateFile });
    await writeSnapshotTar({ meta, stateFile, target: save.target });
  }
  await ledger.close();
  await store.close();
  return ledger.state;
}

async function stateIn(dataDir: string): Promise<FleetState> {
  const store = storeIn(dataDir, false);
  assert.equal(await store.open(), 'ready');
  const ledger = await openLedger({ runtime, store, leadership: await store.campaign(never), log });
  await ledger.close();
  await store.close();
  return ledger.state as FleetState;
}

const LIFE: readonly CommandBody[] = [
  shard('a'),
  shard('__proto__'),
  { kind: 'BindCluster', cluster: 'c', shard: 'a', force: false },
  { kind: 'AssignDomain', domain: { key: 'k', value: 'v' }, shard: '__proto__' },
];

function withoutMeta(view: FleetView): string {
  return encodeLogical(view).split('\n').slice(2).join('\n');
}

function options(
  dataDir: string,
  source: string,
  more: Partial<RestoreOptions> = {},
): RestoreOptions {
  return { source, dataDir, nodeId: 'n0', raftAdvertise: 'n0:7791', store: 'auto', log, ...more };
}

for (const format of ['native', 'logical'] as const) {
  test(`${format}: the state comes back, term and ledger generation raised`, async (context) => {
    const tar = path.join(folder(context), 's.tar');
    const before = await live(folder(context), LIFE, { target: tar, format });
    const dataDir = path.join(folder(context), 'new');
    const restored = await restoreSnapshot(options(dataDir, tar));
    assert.deepEqual(restored, {
      index: 4,
      term: before.meta.term,
      termFloor: before.meta.term + 1_000n,
      engine: 'sqlite',
      rejected: [],
    });
    const after = await stateIn(dataDir);
    assert.equal(withoutMeta(after), withoutMeta(before));
    assert.ok(after.meta.term > before.meta.term + 1_000n);
    assert.equal(after.meta.ledgerGeneration, 1);
    assert.deepEqual(
      [after.meta.applyIndex, after.meta.clusterUid],
      [before.meta.applyIndex, before.meta.clusterUid],
    );
    const names = readdirSync(dataDir).sort();
    assert.deepEqual(names, ['coordinator.db', 'coordinator.lock', 'restored-generation']);
  });

  test(`${format}: the same snapshot restored again is another generation, with other revisions and terms`, async (context) => {
    const tar = path.join(folder(context), 's.tar');
    await live(folder(context), LIFE, { target: tar, format });
    const dataDir = path.join(folder(context), 'new');
    const seen: (readonly [number, number, bigint])[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const { term, termFloor } = await restoreSnapshot(options(dataDir, tar));
      const { ledgerGeneration, assignmentRevision } = (await stateIn(dataDir)).meta;
      seen.push([ledgerGeneration, Math.floor(assignmentRevision / 2 ** 32), termFloor - term]);
    }
    assert.deepEqual(seen, [
      [1, 1, 1_000n],
      [2, 2, 2_000n],
      [3, 3, 3_000n],
    ]);
    writeFileSync(path.join(dataDir, 'restored-generation'), 'two\n');
    await assert.rejects(restoreSnapshot(options(dataDir, tar)), /holds no generation/);
    assert.equal((await stateIn(dataDir)).meta.ledgerGeneration, 3, 'nothing was touched');
  });

  const steps = [
    'copy state',
    'build database',
    'set mark',
    'remove old etcd',
    'remove old database',
    'install database',
    'clear mark',
  ];
  for (const crashAt of steps) {
    test(`${format}: cut off before "${crashAt}", then run again`, async (context) => {
      const tar = path.join(folder(context), 's.tar');
      const wanted = await live(folder(context), LIFE, { target: tar, format });
      const dataDir = folder(context);
      const old = await live(dataDir, [shard('old'), shard('older')]);
      mkdirSync(path.join(dataDir, 'etcd'));
      const onStep = (step: string): void => {
        if (step === crashAt) throw new Error('crash');
      };
      await assert.rejects(restoreSnapshot(options(dataDir, tar, { onStep })), /crash/);
      if (steps.indexOf(crashAt) <= steps.indexOf('set mark')) {
        assert.equal(withoutMeta(await stateIn(dataDir)), withoutMeta(old));
      } else {
        const store = storeIn(dataDir, true);
        await assert.rejects(store.open(), /interrupted; run bigfleetctl snapshot restore again/);
        await store.close();
      }
      await restoreSnapshot(options(dataDir, tar));
      assert.equal(withoutMeta(await stateIn(dataDir)), withoutMeta(wanted));
      assert.equal(existsSync(path.join(dataDir, 'etcd')), false);
    });
  }
}

test('a running coordinator keeps its directory', async (context) => {
  const tar = path.join(folder(context), 's.tar');
  const dataDir = folder(context);
  await live(dataDir, LIFE, { target: tar, format: 'native' });
  const store = storeIn(dataDir, false);
  await store.open();
  await assert.rejects(restoreSnapshot(options(dataDir, tar)), /data dir is in use/);
  await store.close();
});

test('a damaged archive changes nothing', async (context) => {
  const tar = path.join(folder(context), 's.tar');
  await live(folder(context), LIFE, { target: tar, format: 'native' });
  const bytes = readFileSync(tar);
  bytes[bytes.length - 2_000] = (bytes[bytes.length - 2_000] ?? 0) ^ 1;
  writeFileSync(tar, bytes);
  const dataDir = folder(context);
  const old = await live(dataDir, [shard('old')]);
  await assert.rejects(restoreSnapshot(options(dataDir, tar)), {
    code: 'snapshot_malformed',
    message: /checksum/,
  });
  assert.deepEqual(readdirSync(dataDir).sort(), ['coordinator.db', 'coordinator.lock']);
  assert.equal(withoutMeta(await stateIn(dataDir)), withoutMeta(old));
});

async function tarOf(
  context: TestContext,
  head: Pick<SnapshotMeta, 'format' | 'index' | 'clusterUid'> & Pick<Meta, 'term'>,
  state: Uint8Array,
): Promise<string> {
  const directory = folder(context);
  const stateFile = path.join(directory, 'spool');
  const bytes = (async function* () {
    yield state;
  })();
  const { format, index: applyIndex, ...rest } = head;
  const snapshot = {
    format,
    meta: { ...FIRST_META, ...rest, applyIndex },
    storeRaftTerm: 0n,
    bytes,
  };
  const spooled = await spoolSnapshot(snapshot, { runtime, engine: 'sqlite', file: stateFile });
  // As an archive of before the generation was written.
  const { ledgerGeneration: _, ...meta } = spooled;
  const tar = path.join(directory, 's.tar');
  await writeSnapshotTar({ meta, stateFile, target: tar });
  return tar;
}

/** The database of a finished life, altered by SQL: its checksum in the archive fits. */
async function altered(context: TestContext, sql: string, index = 4): Promise<string> {
  const dataDir = folder(context);
  const { clusterUid, term } = (await live(dataDir, LIFE)).meta;
  const file = path.join(dataDir, 'coordinator.db');
  const database = new DatabaseSync(file);
  database.exec(`PRAGMA journal_mode = DELETE; ${sql}`);
  database.close();
  return tarOf(context, { format: 'sqlite', index, term, clusterUid }, readFileSync(file));
}

const UNFIT: readonly [string, (context: TestContext) => Promise<string>, RegExp][] = [
  [
    'is no database',
    (context) =>
      tarOf(
        context,
        { format: 'sqlite', index: 4, term: 1n, clusterUid: 'u' },
        Buffer.from('not a database, '.repeat(500)),
      ),
    /no database/,
  ],
  ['has a newer schema', (context) => altered(context, 'PRAGMA user_version = 2'), /schema 2/],
  [
    'is of something else',
    (context) => altered(context, 'PRAGMA application_id = 1'),
    /coordinator/,
  ],
  [
    'holds a row of nobody',
    (context) => altered(context, `INSERT INTO fleet VALUES ('x/y', '')`),
    /x\/y/,
  ],
  ['holds a broken row', (context) => altered(context, `UPDATE fleet SET value = '{'`), /not JSON/],
  [
    'has no term left to raise',
    (context) => altered(context, `UPDATE meta SET term = ${2n ** 63n - 1_000n}`),
    /term is out of range/,
  ],
  ['is not what meta.json says', (context) => altered(context, '', 3), /another state/],
];

for (const [name, archive, message] of UNFIT) {
  test(`a state that ${name} is refused before anything is touched`, async (context) => {
    const tar = await archive(context);
    const dataDir = folder(context);
    const old = await live(dataDir, [shard('old')]);
    const restored = restoreSnapshot(options(dataDir, tar));
    await assert.rejects(restored, { code: 'snapshot_malformed', message });
    assert.equal(withoutMeta(await stateIn(dataDir)), withoutMeta(old));
  });
}

test('the floor is above the term of the state, whatever meta.json says', async (context) => {
  const tar = await altered(context, 'UPDATE meta SET term = 77');
  const restored = await restoreSnapshot(options(folder(context), tar));
  assert.deepEqual([restored.term, restored.termFloor], [77n, 1_077n]);
});

test('a rejected row of a logical snapshot is logged and counted, the rest restored', async (context) => {
  const text = JSON.stringify({
    shards: [{ id: 'a', address: 'a:1', registered_at_ms: 1, uid: 1, max_epoch: '0' }],
    cluster_to_shard: { c: 'a', d: 'nobody' },
  });
  const head = { format: 'logical-json', index: 9, term: 4n, clusterUid: 'u' } as const;
  const tar = await tarOf(context, head, Buffer.from(text));
  const dataDir = folder(context);
  const { rejected } = await restoreSnapshot(options(dataDir, tar));
  assert.deepEqual(rejected, [
    { at: 'cluster_to_shard.d', reason: 'coordinator: shard not found' },
  ]);
  assert.match(sink.lines.join('\n'), /snapshot row rejected.*cluster_to_shard\.d/);
  assert.deepEqual(
    (await stateIn(dataDir)).clusters().map(({ clusterId }) => clusterId),
    ['c'],
  );
});

/** Stands in for etcd's own tools, which test/etcd/ runs: writes down what it was given. */
function noteBuilds(): { builds: EtcdBuild[]; etcd: (build: EtcdBuild) => Promise<void> } {
  const builds: EtcdBuild[] = [];
  const build = (each: EtcdBuild): Promise<void> => {
    builds.push(each);
    mkdirSync(path.join(each.directory, 'member'), { recursive: true });
    return Promise.resolve();
  };
  return { builds, etcd: build };
}

test('etcd is given the checked state; formats of another engine are refused', async (context) => {
  const directory = folder(context);
  const native = path.join(directory, 'native.tar');
  const logical = path.join(directory, 'logical.tar');
  const source = folder(context);
  await live(source, LIFE, { target: native, format: 'native' });
  const state = await live(folder(context), LIFE, { target: logical, format: 'logical' });
  const dataDir = folder(context);
  await live(dataDir, [shard('old')]);
  const { builds, etcd } = noteBuilds();
  await assert.rejects(restoreSnapshot(options(dataDir, native, { store: 'etcd', etcd })), {
    code: 'snapshot_unsupported',
  });
  await assert.rejects(restoreSnapshot(options(dataDir, logical, { store: 'etcd' })), {
    code: 'snapshot_unsupported',
  });
  const broken = () => Promise.reject(new Error('no etcd here'));
  await assert.rejects(
    restoreSnapshot(options(dataDir, logical, { store: 'etcd', etcd: broken })),
    /no etcd here/,
  );
  assert.equal((await stateIn(dataDir)).shards().length, 1, 'untouched so far');
  const { engine } = await restoreSnapshot(options(dataDir, logical, { store: 'etcd', etcd }));
  assert.equal(engine, 'etcd');
  const [build] = builds;
  assert.equal(build?.source.kind, 'logical');
  const names = readdirSync(dataDir).sort();
  assert.deepEqual(names, ['coordinator.lock', 'etcd', 'restore.json', 'restored-generation']);
  assert.deepEqual(JSON.parse(readFileSync(path.join(dataDir, 'restore.json'), 'utf8')), {
    term: (state.meta.term + 3_000n).toString(),
    // Two attempts before it failed: none of them is taken for this one.
    ledger_generation: 3,
  });
});

const etcdSteps = [
  'build etcd',
  'set mark',
  'remove old database',
  'remove old etcd',
  'write floor',
  'install etcd',
  'clear mark',
];
for (const crashAt of etcdSteps) {
  test(`into etcd: cut off before "${crashAt}", then run again`, async (context) => {
    const tar = path.join(folder(context), 's.tar');
    await live(folder(context), LIFE, { target: tar, format: 'logical' });
    const dataDir = folder(context);
    const old = await live(dataDir, [shard('old'), shard('older')]);
    const { etcd } = noteBuilds();
    const into = { store: 'etcd', etcd } as const;
    const onStep = (step: string): void => {
      if (step === crashAt) throw new Error('crash');
    };
    await assert.rejects(restoreSnapshot(options(dataDir, tar, { ...into, onStep })), /crash/);
    if (etcdSteps.indexOf(crashAt) <= etcdSteps.indexOf('set mark')) {
      assert.equal(withoutMeta(await stateIn(dataDir)), withoutMeta(old));
    } else {
      assert.throws(() => takeDataDir(dataDir), /interrupted; run bigfleetctl snapshot restore/);
    }
    await restoreSnapshot(options(dataDir, tar, into));
    takeDataDir(dataDir).release();
    const names = readdirSync(dataDir).sort();
    assert.deepEqual(names, ['coordinator.lock', 'etcd', 'restore.json', 'restored-generation']);
  });
}
