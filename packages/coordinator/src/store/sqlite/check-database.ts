// Whether a database file is ours, whole and of a schema that this version knows. Asked at every
// start and of every file that a restore is to install; what fails is named and left untouched.

import { DatabaseSync } from 'node:sqlite';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { SCHEMA } from '../../state/meta.ts';
import { APPLICATION_ID } from './fleet-database.ts';
import { unsealed } from './row-seal.ts';

const RESTORE = 'restore a snapshot (bigfleetctl snapshot restore); nothing was written over it';
const FULL = 13;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;
const BUSY = 5;
/** Extended codes carry the primary one in their low byte. */
const PRIMARY_MASK = 0xff;

/** Throws `coordinator_store_corrupt`, `coordinator_store_newer` or `…_data_dir_in_use`. */
export function checkDatabase(file: string): void {
  try {
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      checkIdentity(file, database);
      checkIntegrity(file, database);
      checkRows(file, database);
    } finally {
      database.close();
    }
  } catch (error) {
    throw asStoreError(file, error);
  }
}

function checkIdentity(file: string, database: DatabaseSync): void {
  if (pragma(database, 'application_id') !== APPLICATION_ID)
    throw corrupt(file, 'it is no database of a coordinator');
  const schema = pragma(database, 'user_version');
  if (schema > SCHEMA) {
    const problem = `${file} has schema ${schema}, this version knows ${SCHEMA}`;
    throw new BigFleetError('coordinator_store_newer', problem);
  }
  if (schema !== SCHEMA) throw corrupt(file, `it has schema ${schema}`);
}

function checkIntegrity(file: string, database: DatabaseSync): void {
  const [first] = database.prepare('PRAGMA integrity_check(1)').all();
  const verdict = String(first?.['integrity_check'] ?? 'no answer');
  if (verdict !== 'ok') throw corrupt(file, verdict);
  const { count } = database.prepare('SELECT count(*) AS count FROM meta').get() ?? {};
  if (count !== 1) throw corrupt(file, 'its meta row is missing');
}

/** Cost: one look at every row, about a microsecond each. */
function checkRows(file: string, database: DatabaseSync): void {
  for (const { key, value } of database.prepare('SELECT key, value FROM fleet').iterate()) {
    const name = String(key);
    if (unsealed(name, String(value)) === undefined) {
      throw corrupt(file, `row ${JSON.stringify(name)} does not match its checksum`);
    }
  }
}

export function asStoreError(file: string, error: unknown): BigFleetError {
  if (error instanceof BigFleetError) return error;
  const cause = error;
  switch (sqliteProblem(error)) {
    case 'busy':
      return new BigFleetError('coordinator_data_dir_in_use', 'data dir is in use', { cause });
    case 'corrupt':
      return corrupt(file, describeThrown(error), cause);
    default:
      return new BigFleetError(
        'coordinator_data_dir_unusable',
        `${file} cannot be used: ${describeThrown(error)}`,
        { cause },
      );
  }
}

export function corrupt(file: string, problem: string, cause?: unknown): BigFleetError {
  const message = `${file} is damaged: ${problem}; ${RESTORE}`;
  return new BigFleetError('coordinator_store_corrupt', message, { cause });
}

function pragma(database: DatabaseSync, name: string): number {
  return Number(database.prepare(`PRAGMA ${name}`).get()?.[name] ?? 0);
}

export type SqliteProblem = 'full' | 'corrupt' | 'busy' | 'other';

/** SQLite's result codes, as far as they decide something. */
export function sqliteProblem(error: unknown): SqliteProblem {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0;
  switch (code & PRIMARY_MASK) {
    case FULL:
      return 'full';
    case CORRUPT:
    case NOT_A_DATABASE:
      return 'corrupt';
    case BUSY:
      return 'busy';
    default:
      return 'other';
  }
}
