// Proves that SQLite behaves like every engine, and what is its own: one process per directory, a
// damaged, foreign or newer file refused untouched, a full disk survived, zombies fenced by term.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test, type TestContext } from 'node:test';
import { realRuntime } from '@bigfleet/base/real';
import type { Change, Write } from '../../state/rows.ts';
import type { CommitRequest } from '../store.ts';
import { storeBehaviour } from '../testing/behaviour.ts';
import { FleetDatabase } from './fleet-database.ts';
import { SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts';

const runtime = realRuntime();
const never = new AbortController().signal;

function folder(context: TestContext): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'coordinator-sqlite-'));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

function storeIn(dataDir: string, options: Partial<SqliteStoreOptions> = {}): SqliteStore {
  return new SqliteStore({
    runtime,
    dataDir,
    nodeId: 'n0',
    grpcAddress: 'n0:7790',
    bootstrap: true,
    ...options,
  });
}

storeBehaviour({
  engine: 'sqlite',
  stage: (context) => {
    const dataDir = folder(context);
    return Promise.resolve({
      store: ({ bootstrap }) => storeIn(dataDir, { bootstrap }),
      nowMs: () => runtime.clock.monotonicMs(),
    });
  },
});

const domain = (at: number, size = 1): Write => {
  const value = `${'v'.repeat(size)}${at}`;
  return {
    kind: 'put',
    table: 'domains',
    key: `domains/k/${value}`,
    row: { key: 'k', value, shardId: 's', shardUid: 1, state: 'ASSIGNED', revision: 1 },
  };
};

function request(expectedIndex: number, writes: readonly Write[]): CommitRequest {
  const change: Change = { writes, reads: [], gc: [], assignmentRevision: 0, ledgerGeneration: 0 };
  return { expectedIndex, commandId: `c${expectedIndex}`, change, deadlineMs: 0 };
}

async function filled(dataDir: string, commits = 3): Promise<void> {
  const store = storeIn(dataDir);
  await store.open();
  const leadership = await store.campaign(never);
  for (let at = 0; at < commits; at++)
    assert.equal((await store.commit(leadership, request(at, [domain(at)]))).kind, 'committed');
  await store.close();
}

test('a second store on the directory is refused while the first lives', async (context) => {
  const dataDir = folder(context);
  const first = storeIn(dataDir);
  await first.open();
  await assert.rejects(storeIn(dataDir).open(), {
    code: 'coordinator_data_dir_in_use',
    message: /^data dir is in use/,
  });
  await first.close();
  const second = storeIn(dataDir);
  assert.equal(await second.open(), 'ready');
  await second.close();
});

test('even without the lock file the database itself admits one process', async (context) => {
  const dataDir = folder(context);
  const first = storeIn(dataDir);
  await first.open();
  await first.campaign(never);
  rmSync(path.join(dataDir, 'coordinator.lock'));
  await assert.rejects(storeIn(dataDir).open(), { code: 'coordinator_data_dir_in_use' });
  await first.close();
});

test('the term is compared inside the transaction: an older one writes and sweeps nothing', async (context) => {
  const dataDir = folder(context);
  await filled(dataDir);
  const database = new FleetDatabase(path.join(dataDir, 'coordinator.db'), 1e9);
  context.after(() => database.close());
  const zombie = database.meta().term;
  database.raiseTerm(0n);
  assert.equal(database.commit(zombie, request(3, [domain(3)])), 'deposed');
  assert.equal(database.delete(zombie, ['domains/k/v0']), 'deposed');
  assert.equal(database.load().rows.length, 3);
  assert.equal(database.commit(zombie + 1n, request(3, [domain(3)])), 'done');
});

test('a full disk refuses the write, says so, and everything else goes on', async (context) => {
  const dataDir = folder(context);
  const store = storeIn(dataDir, { maxDatabaseBytes: 65_536 });
  await store.open();
  const leadership = await store.campaign(never);
  let index = 0;
  let last = await store.commit(leadership, request(index, [domain(index, 900)]));
  while (last.kind === 'committed' && index < 1_000) {
    index++;
    last = await store.commit(leadership, request(index, [domain(index, 900)]));
  }
  assert.equal(last.kind, 'failed');
  assert.match((await store.status()).alarms.join(), /disk is full/);
  const { rows, meta } = await store.load(leadership);
  assert.deepEqual([rows.length, meta.applyIndex], [index, index]);
  const room: Write = { kind: 'delete', table: 'domains', key: rows[0]?.key ?? '' };
  assert.equal((await store.commit(leadership, request(index, [room]))).kind, 'committed');
  assert.deepEqual((await store.status()).alarms, []);
  await store.close();
});

const DAMAGES: readonly [string, (file: string) => void, string, RegExp][] = [
  [
    'overwritten pages',
    (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0xa5, 4_096, bytes.length);
      writeFileSync(file, bytes);
    },
    'coordinator_store_corrupt',
    /snapshot restore/,
  ],
  [
    'no database',
    (file) => writeFileSync(file, 'hello'),
    'coordinator_store_corrupt',
    /snapshot restore/,
  ],
  [
    'an empty file',
    (file) => writeFileSync(file, ''),
    'coordinator_store_corrupt',
    /snapshot restore/,
  ],
  [
    'a log without its database',
    (file) => {
      rmSync(file);
      writeFileSync(`${file}-wal`, 'x');
    },
    'coordinator_store_corrupt',
    /its log is there/,
  ],
  [
    'a foreign database',
    (file) => alter(file, 'PRAGMA application_id = 7'),
    'coordinator_store_corrupt',
    /no database of a coordinator/,
  ],
  [
    'a newer schema',
    (file) => alter(file, 'PRAGMA user_version = 2'),
    'coordinator_store_newer',
    /schema 2/,
  ],
  [
    // Well-formed, and about another shard: only its checksum tells.
    'one letter of a row changed',
    (file) => alter(file, `UPDATE fleet SET value = replace(value, ':"s"', ':"t"')`),
    'coordinator_store_corrupt',
    /row "domains\/.*" does not match its checksum/,
  ],
  [
    'a row under the key of another',
    (file) => alter(file, `UPDATE fleet SET key = key || 'x'`),
    'coordinator_store_corrupt',
    /does not match its checksum/,
  ],
  [
    'a missing meta row',
    (file) => alter(file, 'DELETE FROM meta'),
    'coordinator_store_corrupt',
    /meta row/,
  ],
];

function alter(file: string, sql: string): void {
  const database = new DatabaseSync(file);
  database.exec(sql);
  database.close();
}

for (const [name, damage, code, message] of DAMAGES) {
  test(`refused at start, and left as it was: ${name}`, async (context) => {
    const dataDir = folder(context);
    await filled(dataDir);
    damage(path.join(dataDir, 'coordinator.db'));
    const before = contentOf(dataDir);
    const store = storeIn(dataDir);
    await assert.rejects(store.open(), { code, message });
    await store.close();
    assert.deepEqual(contentOf(dataDir), before);
  });
}

function contentOf(dataDir: string): unknown {
  const names = readdirSync(dataDir).filter((name) => name.startsWith('coordinator.db'));
  return names.sort().map((name) => [name, readFileSync(path.join(dataDir, name), 'hex')]);
}

test('a row that was edited by hand is named when it is loaded', async (context) => {
  const dataDir = folder(context);
  await filled(dataDir);
  alter(path.join(dataDir, 'coordinator.db'), `INSERT INTO fleet VALUES ('strange/x', '{}')`);
  const store = storeIn(dataDir);
  await store.open();
  const leadership = await store.campaign(never);
  await assert.rejects(store.load(leadership), {
    code: 'coordinator_row_malformed',
    message: /^strange\/x/,
  });
  await store.close();
});

test('a native snapshot is one whole database of the moment, and leaves no file', async (context) => {
  const dataDir = folder(context);
  const store = storeIn(dataDir);
  await store.open();
  const leadership = await store.campaign(never);
  assert.equal(await store.snapshot('native'), undefined);
  await store.commit(leadership, request(0, [domain(0)]));
  await store.commit(leadership, request(1, [domain(1)]));
  const snapshot = (await store.snapshot('native')) ?? assert.fail('no snapshot');
  assert.deepEqual(
    [snapshot.format, snapshot.meta.applyIndex, snapshot.meta.term],
    ['sqlite', 2, leadership.term],
  );
  await store.commit(leadership, request(2, [domain(2)]));
  const copy = path.join(folder(context), 'copy.db');
  await writeFile(copy, snapshot.bytes);
  const database = new FleetDatabase(copy, 1e9);
  assert.deepEqual(
    database.load().rows.map(({ key }) => key),
    ['domains/k/v0', 'domains/k/v1'],
  );
  assert.equal(database.meta().clusterUid, snapshot.meta.clusterUid);
  database.close();
  assert.deepEqual(
    readdirSync(dataDir).filter((name) => name.startsWith('snapshot-')),
    [],
  );
  assert.equal((await store.commit(leadership, request(3, [domain(3)]))).kind, 'committed');
  await store.close();
});

test('a store that is not open answers nothing', async (context) => {
  const store = storeIn(folder(context));
  await assert.rejects(store.campaign(never), { code: 'coordinator_store_closed' });
  await assert.rejects(store.snapshot('logical'), { code: 'coordinator_store_closed' });
});
