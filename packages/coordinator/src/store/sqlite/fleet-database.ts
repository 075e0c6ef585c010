// The database file of one coordinator: rows as text under their key, and one row of meta. One
// connection, exclusive; write-ahead log with a full sync, so a returned commit is on the disk. It
// knows transactions and guards, not what rows mean. Cost of a commit: one statement per write, one
// for meta, one fsync; guarded by the bench coordinator/apply-sqlite.

import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { assert, BigFleetError } from '@bigfleet/base';
import { encodeRow, storedRow } from '../../state/row-format.ts';
import type { LoadedState, Meta, RowKey, StoredRow, Write } from '../../state/rows.ts';
import type { CommitRequest } from '../store.ts';
import { sealed, unsealed } from './row-seal.ts';

/** `BFLT`: a SQLite file of something else is not ours to write into. */
export const APPLICATION_ID = 0x42_46_4c_54;

export const CREATE_TABLES = `
  CREATE TABLE meta (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    schema INTEGER NOT NULL,
    cluster_uid TEXT NOT NULL,
    term INTEGER NOT NULL,
    apply_index INTEGER NOT NULL,
    last_command_id TEXT NOT NULL,
    assignment_revision INTEGER NOT NULL,
    ledger_generation INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE fleet (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

const PAGE_BYTES = 4_096;
/** What the log may keep on disk after a checkpoint. */
const LOG_BYTES = 16 * 1_048_576;

export type Guarded = 'done' | 'deposed' | 'index_moved';

export class FleetDatabase {
  readonly connection: DatabaseSync;
  readonly #statements: ReturnType<typeof prepare>;

  /** The file must exist and have its tables. */
  constructor(file: string, maxBytes: number) {
    this.connection = new DatabaseSync(file, { timeout: 0 });
    try {
      this.connection.exec(`
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = FULL;
        PRAGMA journal_size_limit = ${LOG_BYTES};
        PRAGMA max_page_count = ${Math.ceil(maxBytes / PAGE_BYTES)};
      `);
      this.#statements = prepare(this.connection);
    } catch (error) {
      this.connection.close();
      throw error;
    }
  }

  meta(): Meta {
    const row = this.#statements.meta.get();
    assert(row !== undefined, 'a database has its meta row');
    return metaOf(row);
  }

  /** Rows in key order. Throws `coordinator_row_malformed` for one that is not as it was written. */
  load(): LoadedState {
    const rows = this.#statements.rows.all();
    return {
      meta: this.meta(),
      rows: rows.map(({ key, value }) => rowOf(String(key), String(value))),
    };
  }

  /** Durable when it returns. */
  raiseTerm(floor: bigint): bigint {
    const row = this.#statements.raiseTerm.get(floor);
    assert(row !== undefined, 'a database has its meta row');
    return BigInt(row['term'] as bigint);
  }

  /** Throws what SQLite throws; `isCommitting` tells whether the outcome is then known. */
  commit(term: bigint, request: CommitRequest): Guarded {
    return this.#transaction(() => {
      if (!this.#advance(term, request)) return this.#whyNot(term);
      for (const write of request.change.writes) this.#write(write);
      return 'done';
    });
  }

  delete(term: bigint, keys: readonly RowKey[]): Guarded {
    return this.#transaction(() => {
      if (this.meta().term !== term) return 'deposed';
      for (const key of keys) this.#statements.delete.run(key);
      return 'done';
    });
  }

  close(): void {
    if (this.connection.isOpen) this.connection.close();
  }

  /** Rolled back unless `work` says `done`; a failure of COMMIT itself is a `CommitError`. */
  #transaction(work: () => Guarded): Guarded {
    this.#statements.begin.run();
    let outcome: Guarded;
    try {
      outcome = work();
    } catch (error) {
      this.#rollback();
      throw error;
    }
    if (outcome === 'done') this.#end();
    else this.#rollback();
    return outcome;
  }

  #end(): void {
    try {
      this.#statements.commit.run();
    } catch (cause) {
      this.#rollback();
      throw new CommitError(cause);
    }
  }

  #rollback(): void {
    if (this.connection.isTransaction) this.#statements.rollback.run();
  }

  #advance(term: bigint, { expectedIndex, commandId, change }: CommitRequest): boolean {
    const { changes } = this.#statements.advance.run(
      expectedIndex + 1,
      commandId,
      change.assignmentRevision,
      change.ledgerGeneration,
      term,
      expectedIndex,
    );
    return changes === 1;
  }

  #whyNot(term: bigint): Guarded {
    return this.meta().term === term ? 'index_moved' : 'deposed';
  }

  #write(write: Write): void {
    if (write.kind === 'delete') this.#statements.delete.run(write.key);
    else this.#statements.put.run(write.key, sealed(write.key, encodeRow(write.table, write.row)));
  }
}

/** COMMIT itself failed: whether its bytes reached the disk is not known here. */
export class CommitError extends Error {
  override readonly name = 'CommitError';

  constructor(cause: unknown) {
    super('COMMIT failed', { cause });
  }
}

function prepare(connection: DatabaseSync) {
  const meta = connection.prepare('SELECT * FROM meta');
  const raiseTerm = connection.prepare('UPDATE meta SET term = max(term, ?) + 1 RETURNING term');
  for (const statement of [meta, raiseTerm]) statement.setReadBigInts(true);
  return {
    begin: connection.prepare('BEGIN IMMEDIATE'),
    commit: connection.prepare('COMMIT'),
    rollback: connection.prepare('ROLLBACK'),
    meta,
    rows: connection.prepare('SELECT key, value FROM fleet ORDER BY key'),
    raiseTerm,
    advance: connection.prepare(
      `UPDATE meta SET apply_index = ?, last_command_id = ?, assignment_revision = ?,
       ledger_generation = ? WHERE term = ? AND apply_index = ?`,
    ),
    put: connection.prepare('INSERT OR REPLACE INTO fleet (key, value) VALUES (?, ?)'),
    delete: connection.prepare('DELETE FROM fleet WHERE key = ?'),
  };
}

function rowOf(key: RowKey, stored: string): StoredRow {
  const value = unsealed(key, stored);
  if (value !== undefined) return storedRow({ key, value });
  throw new BigFleetError('coordinator_row_malformed', `${key}: its checksum does not match`);
}

function metaOf(row: Readonly<Record<string, SQLOutputValue>>): Meta {
  return {
    schema: Number(row['schema']),
    clusterUid: String(row['cluster_uid']),
    term: BigInt(row['term'] as bigint),
    applyIndex: Number(row['apply_index']),
    lastCommandId: String(row['last_command_id']),
    assignmentRevision: Number(row['assignment_revision']),
    ledgerGeneration: Number(row['ledger_generation']),
  };
}
