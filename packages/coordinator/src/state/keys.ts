// Where a row lives: `<table>/<segment>[/<segment>]`, each segment percent-encoded. The same text is
// the primary key in SQLite and the key below the prefix in etcd, so a row has one name everywhere.
// Parsing is strict: what does not re-encode to itself was not written by us and is refused.
// Text that is not well-formed Unicode has no encoding: its key is one that no row can have.

import { compareText } from '@bigfleet/base';
import type { RowKey, Table, TableRows } from './rows.ts';

/**
 * The fields that name a row: the segments of its key, and the one order of its table (coordinator
 * §2.3), code point by code point, so that lists, snapshots and decisions do not depend on insertion
 * order or on a locale.
 */
const KEY_FIELDS: { readonly [T in Table]: readonly (keyof TableRows[T])[] } = {
  shards: ['id'],
  clusters: ['clusterId'],
  domains: ['key', 'value'],
  quotas: ['provider', 'region'],
  providers: ['name'],
  homes: ['providerAddress'],
  transfers: ['id'],
  overrides: ['machineId'],
};

export const TABLES: readonly Table[] = Object.keys(KEY_FIELDS) as Table[];

export interface ParsedKey {
  readonly table: Table;
  readonly segments: readonly string[];
}

export function rowKey(table: Table, ...segments: readonly string[]): RowKey {
  return [table, ...segments.map(encodeSegment)].join('/');
}

export function keyOfRow<T extends Table>(table: T, row: TableRows[T]): RowKey {
  return rowKey(table, ...KEY_FIELDS[table].map((field) => String(row[field])));
}

export function rowOrder<T extends Table>(table: T): (a: TableRows[T], b: TableRows[T]) => number {
  const fields = KEY_FIELDS[table];
  return (a, b) => {
    for (const field of fields) {
      const order = compareText(String(a[field]), String(b[field]));
      if (order !== 0) return order;
    }
    return 0;
  };
}

/** `undefined` for anything that `keyOfRow` would not have written. */
export function parseRowKey(key: RowKey): ParsedKey | undefined {
  const [name, ...encoded] = key.split('/');
  const table = TABLES.find((known) => known === name);
  if (table === undefined || encoded.length !== KEY_FIELDS[table].length) return undefined;
  const segments: string[] = [];
  for (const text of encoded) {
    const segment = decodeSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return { table, segments };
}

/** Finding nothing is right for such text; `encodeURIComponent` would throw in a reader's face. */
function encodeSegment(segment: string): string {
  return segment.isWellFormed() ? encodeURIComponent(segment) : '%';
}

function decodeSegment(text: string): string | undefined {
  try {
    const segment = decodeURIComponent(text);
    return encodeURIComponent(segment) === text ? segment : undefined;
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
