// A copy of the live database by SQLite's own online backup (coordinator §3.1): copying the files of
// a running database would tear its log from it. The copy is a temporary file, read once, then gone.

import { createReadStream, rmSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import type { Meta } from '../../state/rows.ts';
import type { StoreSnapshot } from '../store.ts';
import { removeDatabase } from './create-database.ts';
import { FleetDatabase } from './fleet-database.ts';

const CHUNK_BYTES = 1_048_576;
/** Big steps: the whole state is a few megabytes, and each step costs a trip to the thread pool. */
const PAGES_PER_STEP = 1_000;

export async function nativeSnapshot(
  database: FleetDatabase,
  file: string,
): Promise<StoreSnapshot> {
  removeDatabase(file);
  try {
    await backup(database.connection, file, { rate: PAGES_PER_STEP });
    const meta = metaOfCopy(file);
    return { format: 'sqlite', meta, storeRaftTerm: 0n, bytes: readOnce(file) };
  } catch (error) {
    removeDatabase(file);
    throw error;
  }
}

/** The copy says what it holds: commits may have gone on meanwhile. Leaves one file, without a log. */
function metaOfCopy(file: string): Meta {
  const plain = new DatabaseSync(file);
  plain.exec('PRAGMA journal_mode = DELETE');
  plain.close();
  const copy = new FleetDatabase(file, Number.MAX_SAFE_INTEGER);
  const meta = copy.meta();
  copy.connection.exec('PRAGMA journal_mode = DELETE');
  copy.close();
  return meta;
}

async function* readOnce(file: string): AsyncIterable<Uint8Array> {
  try {
    for await (const chunk of createReadStream(file, { highWaterMark: CHUNK_BYTES })) {
      yield chunk as Uint8Array;
    }
  } finally {
    rmSync(file, { force: true });
  }
}
