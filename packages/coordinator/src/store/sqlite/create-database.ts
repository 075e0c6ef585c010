// A new database, complete or absent: built under another name, synced, then renamed into place.
// A crash on the way leaves the old state untouched and a stray file that the next attempt replaces;
// a file named coordinator.db is therefore never half written, and an empty one is a damaged one.

import { closeSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { LoadedState, Meta } from '../../state/rows.ts';
import { APPLICATION_ID, CREATE_TABLES } from './fleet-database.ts';
import { sealed } from './row-seal.ts';

export const DATABASE_FILE = 'coordinator.db';
export const BUILD_FILE = 'coordinator.db.new';
const OWNER_ONLY_UMASK = 0o077;

/** The caller holds the lock of the directory and has moved an old database away. */
export function createDatabase(directory: string, content: LoadedState): void {
  const built = path.join(directory, BUILD_FILE);
  removeDatabase(built);
  buildDatabase(built, content);
  installDatabase(built, directory);
}

export function buildDatabase(file: string, { meta, rows }: LoadedState): void {
  const umask = process.umask(OWNER_ONLY_UMASK);
  const database = new DatabaseSync(file);
  process.umask(umask);
  try {
    database.exec(
      `PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${meta.schema}`,
    );
    database.exec(`BEGIN; ${CREATE_TABLES}`);
    writeMeta(database, meta);
    const insert = database.prepare('INSERT INTO fleet (key, value) VALUES (?, ?)');
    for (const { key, value } of rows) insert.run(key, sealed(key, value));
    database.exec('COMMIT');
  } finally {
    database.close();
  }
}

/** The rename is the moment of truth; the directory is synced so that it survives a power loss. */
export function installDatabase(built: string, directory: string): void {
  syncPath(built);
  renameSync(built, path.join(directory, DATABASE_FILE));
  syncPath(directory);
}

/** The file with the files that SQLite keeps beside it. */
export function removeDatabase(file: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(file + suffix, { force: true });
}

export function syncPath(target: string): void {
  const descriptor = openSync(target, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function writeMeta(database: DatabaseSync, meta: Meta): void {
  const columns =
    'only, schema, cluster_uid, term, apply_index, last_command_id, assignment_revision, ledger_generation';
  database
    .prepare(`INSERT INTO meta (${columns}) VALUES (1, ?, ?, ?, ?, ?, ?, ?)`)
    .run(
      meta.schema,
      meta.clusterUid,
      meta.term,
      meta.applyIndex,
      meta.lastCommandId,
      meta.assignmentRevision,
      meta.ledgerGeneration,
    );
}
