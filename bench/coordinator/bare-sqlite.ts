// The least that commits the same bytes durably: prepared statements, one row and the meta row per
// transaction, write-ahead log with a full sync, exclusive locking; no decision, no guard to check.

import { DatabaseSync, type StatementSync } from 'node:sqlite';

export class BareSqlite {
  readonly #database: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #row: StatementSync;
  readonly #meta: StatementSync;
  readonly #commit: StatementSync;
  #index = 0;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(`
      PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE fleet (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
      CREATE TABLE meta (only INTEGER PRIMARY KEY, apply_index INTEGER, last_command_id TEXT,
        assignment_revision INTEGER, ledger_generation INTEGER) STRICT;
      INSERT INTO meta VALUES (1, 0, '', 0, 0);
    `);
    this.#begin = this.#database.prepare('BEGIN IMMEDIATE');
    this.#row = this.#database.prepare('INSERT OR REPLACE INTO fleet (key, value) VALUES (?, ?)');
    this.#meta = this.#database.prepare(
      'UPDATE meta SET apply_index = ?, last_command_id = ?, assignment_revision = ?, ledger_generation = ?',
    );
    this.#commit = this.#database.prepare('COMMIT');
  }

  apply(count: number): void {
    for (let op = 0; op < count; op++) {
      const index = ++this.#index;
      const key = `domains/topology.kubernetes.io%2Frack/rack-${index}`;
      const value = `{"key":"topology.kubernetes.io/rack","value":"rack-${index}","shard_id":"shard-0","shard_uid":1,"state":"ASSIGNED","revision":${index}}\n01234567`;
      this.#begin.run();
      this.#row.run(key, value);
      this.#meta.run(index, '0123456789abcdef0123456789abcdef', index, 0);
      this.#commit.run();
    }
  }

  close(): void {
    this.#database.close();
  }
}
