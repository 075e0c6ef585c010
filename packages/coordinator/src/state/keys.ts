// Where a row lives: `<table>/<segment>[/<segment>]`, each segment percent-encoded. The same text is
// the primary key in SQLite and the key below the prefix in etcd, so a row has one name everywhere.
// Parsing is strict: what does not re-encode to itself was not written by us and is refused.
// Text that is not well-formed Unicode has no encoding: its key is one that no row can have.

import { compareText } from '@bigfleet/base';
import type { Domain, Table, TableRows } from './rows.ts';
import type { RowKey } from './writes.ts';

export const TABLES: readonly Table[] = [
  'shards',
  'clusters',
  'domains',
  'quotas',
  'providers',
  'homes',
  'transfers',
  'overrides',
];

export interface ParsedKey {
  readonly table: Table;
  readonly segments: readonly string[];
}

const SEGMENT_COUNT: Readonly<Record<Table, number>> = {
  shards: 1,
  clusters: 1,
  domains: 2,
  quotas: 2,
  providers: 1,
  homes: 1,
  transfers: 1,
  overrides: 1,
};

export const shardKey = (id: string): RowKey => join('shards', id);
export const clusterKey = (id: string): RowKey => join('clusters', id);
export const domainKey = (domain: Domain): RowKey => join('domains', domain.key, domain.value);
export const quotaKey = (provider: string, region: string): RowKey =>
  join('quotas', provider, region);
export const providerKey = (name: string): RowKey => join('providers', name);
export const homeKey = (providerAddress: string): RowKey => join('homes', providerAddress);
export const transferKey = (id: string): RowKey => join('transfers', id);
export const overrideKey = (machineId: string): RowKey => join('overrides', machineId);

type KeyOf = { readonly [T in Table]: (row: TableRows[T]) => RowKey };

const KEY_OF: KeyOf = {
  shards: (row) => shardKey(row.id),
  clusters: (row) => clusterKey(row.clusterId),
  domains: (row) => domainKey(row),
  quotas: (row) => quotaKey(row.provider, row.region),
  providers: (row) => providerKey(row.name),
  homes: (row) => homeKey(row.providerAddress),
  transfers: (row) => transferKey(row.id),
  overrides: (row) => overrideKey(row.machineId),
};

export function keyOfRow<T extends Table>(table: T, row: TableRows[T]): RowKey {
  return KEY_OF[table](row);
}

/** `undefined` for anything that `keyOfRow` would not have written. */
export function parseRowKey(key: RowKey): ParsedKey | undefined {
  const [name, ...encoded] = key.split('/');
  const table = TABLES.find((known) => known === name);
  if (table === undefined || encoded.length !== SEGMENT_COUNT[table]) return undefined;
  const segments: string[] = [];
  for (const text of encoded) {
    const segment = decodeSegment(text);
    if (segment === undefined) return undefined;
    segments.push(segment);
  }
  return { table, segments };
}

function join(table: Table, ...segments: readonly string[]): RowKey {
  return [table, ...segments.map(encodeSegment)].join('/');
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

// The one order of each table (coordinator §2.3): by the text of its key, code point by code point,
// so that lists, snapshots and decisions do not depend on insertion order or on a locale.

type Orders = { readonly [T in Table]: (a: TableRows[T], b: TableRows[T]) => number };

export const rowOrders: Orders = {
  shards: (a, b) => compareText(a.id, b.id),
  clusters: (a, b) => compareText(a.clusterId, b.clusterId),
  domains: (a, b) => compareText(a.key, b.key) || compareText(a.value, b.value),
  quotas: (a, b) => compareText(a.provider, b.provider) || compareText(a.region, b.region),
  providers: (a, b) => compareText(a.name, b.name),
  homes: (a, b) => compareText(a.providerAddress, b.providerAddress),
  transfers: (a, b) => compareText(a.id, b.id),
  overrides: (a, b) => compareText(a.machineId, b.machineId),
};
