// What one command changes: rows by table and key. The engines store rows as JSON under their key
// and know nothing of their meaning; the state takes the same list, so memory and disk cannot drift.

import type { Meta, Table, TableRows } from './rows.ts';

/** `<table>/<segment>[/<segment>]`, each segment percent-encoded: the etcd key below the prefix. */
export type RowKey = string;

export type Write =
  | {
      readonly [T in Table]: {
        readonly kind: 'put';
        readonly table: T;
        readonly key: RowKey;
        readonly row: TableRows[T];
      };
    }[Table]
  | { readonly kind: 'delete'; readonly table: Table; readonly key: RowKey };

/** The outcome of deciding one command. Nothing is written by deciding. */
export interface Change {
  readonly writes: readonly Write[];
  /**
   * Rows that the decision read and that must not have changed when it is committed (coordinator
   * §3.4).
   */
  readonly reads: readonly RowKey[];
  /** Dead by the rule of `shardUid`; swept later, in batches, never part of the commit. */
  readonly gc: readonly RowKey[];
  readonly assignmentRevision: number;
  readonly ledgerGeneration: number;
}

/** A row as an engine keeps it. */
export interface StoredRow {
  readonly table: Table;
  readonly key: RowKey;
  /** JSON as written by `encodeRow`. */
  readonly value: string;
}

/** Everything that an engine holds, dead rows included, at one point in time. */
export interface LoadedState {
  readonly meta: Meta;
  readonly rows: readonly StoredRow[];
}
