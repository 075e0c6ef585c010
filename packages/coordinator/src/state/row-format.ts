// Every table's row as JSON (coordinator §2.1): what SQLite and etcd store and an operator reads
// with the engine's own tools. The order of fields here is the order of bytes: changing it changes
// every stored row, so a field is only ever appended, together with the schema number.

import { BigFleetError } from '@bigfleet/base';
import {
  type Codec,
  count,
  type DecodeContext,
  int64,
  list,
  malformed,
  nullable,
  oneOf,
  parseJson,
  record,
  text,
  textPair,
} from './json-codec.ts';
import { keyOfRow, parseRowKey } from './keys.ts';
import type {
  ClusterRow,
  DomainRow,
  HomeRow,
  Meta,
  OverrideRow,
  ProviderRow,
  QuotaMoveRow,
  QuotaRow,
  RequirementRow,
  SelectorRow,
  ShardRow,
  SliceRow,
  Table,
  TableRows,
  TransferRow,
  RowKey,
  StoredRow,
} from './rows.ts';

const slice = record<SliceRow>({ shardId: text, shardUid: count, slice: count });

const requirement = record<RequirementRow>({ key: text, operator: count, values: list(text) });

const selector = record<SelectorRow>({
  instanceType: text,
  zone: text,
  count,
  requirements: list(requirement),
  deficit: list(textPair),
  minUnit: list(textPair),
  interruptionPenaltyBucket: count,
});

const quotaMove = record<QuotaMoveRow>({
  provider: text,
  region: text,
  count,
  step: oneOf(['SHRUNK', 'GROWN', 'RESTORED']),
});

export const rowCodecs: { readonly [T in Table]: Codec<TableRows[T]> } = {
  shards: record<ShardRow>({
    id: text,
    address: text,
    registeredAtMs: count,
    uid: count,
    maxEpoch: int64,
  }),
  clusters: record<ClusterRow>({
    clusterId: text,
    shardId: text,
    shardUid: count,
    boundAtMs: count,
  }),
  domains: record<DomainRow>({
    key: text,
    value: text,
    shardId: text,
    shardUid: count,
    state: oneOf(['ASSIGNED', 'RELEASING']),
    revision: count,
  }),
  quotas: record<QuotaRow>({ provider: text, region: text, slices: list(slice) }),
  providers: record<ProviderRow>({
    name: text,
    address: text,
    region: text,
    declaredQuota: count,
    shards: list(text),
  }),
  homes: record<HomeRow>({ providerAddress: text, shardId: text, shardUid: count }),
  transfers: record<TransferRow>({
    id: text,
    from: text,
    fromUid: count,
    to: text,
    toUid: count,
    tier: oneOf([1, 2]),
    phase: oneOf(['PREPARING', 'COMMITTED', 'DONE', 'ABORTED']),
    providerAddress: text,
    machineIds: list(text),
    reasonCode: text,
    createdAtMs: count,
    updatedAtMs: count,
    selector: nullable(selector),
    quota: nullable(quotaMove),
  }),
  overrides: record<OverrideRow>({
    machineId: text,
    owner: text,
    ownerUid: count,
    transferId: text,
  }),
};

/** As logical snapshots hold it. */
export const metaCodec: Codec<Meta> = record<Meta>({
  schema: count,
  clusterUid: text,
  term: int64,
  applyIndex: count,
  lastCommandId: text,
  assignmentRevision: count,
  ledgerGeneration: count,
});

export function encodeRow<T extends Table>(table: T, row: TableRows[T]): string {
  return JSON.stringify(rowCodecs[table].encode(row));
}

/**
 * Throws `coordinator_row_malformed`. The row must belong under its key: a moved row would be found by
 * nobody.
 */
export function decodeStoredRow<T extends Table>(
  table: T,
  key: RowKey,
  value: string,
): TableRows[T] {
  const context: DecodeContext = { at: key, unknownKeys: 'refuse' };
  if (parseRowKey(key)?.table !== table) throw malformed(context, `is no key of ${table}`);
  const row = rowCodecs[table].decode(parseJson(value, context), context);
  if (keyOfRow(table, row) !== key) throw malformed(context, 'holds the row of another key');
  return row;
}

/**
 * A key and its value as an engine lists them, with the table that the key names. A row under a key
 * that is not ours was put there by hand: `coordinator_row_malformed`.
 */
export function storedRow({ key, value }: Pick<StoredRow, 'key' | 'value'>): StoredRow {
  const table = parseRowKey(key)?.table;
  if (table === undefined)
    throw new BigFleetError('coordinator_row_malformed', `${key}: is no key of a fleet state`);
  return { table, key, value };
}
