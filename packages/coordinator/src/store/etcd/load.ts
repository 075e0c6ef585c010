// Everything below the prefix at one revision, in pages (coordinator §3.3 step 4). The first page
// fixes the revision; when etcd compacts it away in between, the load starts again from nothing:
// two halves of two moments would be a state that never existed. Rows of tables that this version
// does not know stay in etcd and are not handed out.

import { BigFleetError, assert } from '@bigfleet/base';
import type { KeyValue, RangeResponse } from '@bigfleet/wire/etcd';
import type { EtcdClient } from '../../etcd-client/client.ts';
import { createRevisionIs, type Op, put } from '../../etcd-client/txn.ts';
import { TABLES } from '../../state/keys.ts';
import type { Table, Meta, RowKey, StoredRow, LoadedState } from '../../state/rows.ts';
import { type KeyRange, type KeySpace, textOf, bytesOf } from './key-space.ts';
import type { EtcdAccess } from './options.ts';
import { type ApplyValue, applyValue, decodeTerm, encodeTerm, firstApply } from './values.ts';

const pageLimit = 1_000n;
const maxAttempts = 5;
const pageDeadlineMs = 10_000;
const maxBatchCount = 100;
/** Well below etcd's `--max-request-bytes` of 1.5 MiB. */
const maxBatchLength = 512 * 1_024;
/** The first one also waits for the server to be up. */
const writeDeadlineMs = 60_000;

export interface LoadedLedger extends LoadedState {
  readonly apply: ApplyValue;
  readonly applyRevision: bigint;
  readonly rowRevisions: Map<RowKey, bigint>;
}

export async function loadLedger(access: EtcdAccess, signal: AbortSignal): Promise<LoadedLedger> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await loadOnce(access, signal);
    } catch (error) {
      const isCompacted = error instanceof BigFleetError && error.code === 'etcd_compacted';
      if (!isCompacted || attempt === maxAttempts) throw error;
    }
  }
}

async function loadOnce({ client, keys }: EtcdAccess, signal: AbortSignal): Promise<LoadedLedger> {
  const others = new Map<string, KeyValue>();
  const rows: StoredRow[] = [];
  const rowRevisions = new Map<RowKey, bigint>();
  // Page by page, so that the lease is renewed in between, however many rows there are.
  for await (const kvs of pagesOf(client, keys.all, signal)) {
    for (const kv of kvs) {
      const key = keys.nameOf(kv.key);
      const table = tableOf(key);
      if (table === undefined) {
        others.set(key, kv);
        continue;
      }
      rows.push({ table, key, value: textOf(kv.value) });
      rowRevisions.set(key, kv.modRevision);
    }
  }
  const stored = others.get('meta/apply');
  const term = others.get('meta/term');
  const apply = stored === undefined ? firstApply : applyValue.decode(stored.value);
  const { index: applyIndex, ...position } = apply;
  const meta = {
    schema: Number(valueOf(others.get('meta/schema'), '0')),
    clusterUid: valueOf(others.get('meta/cluster_uid'), ''),
    term: term === undefined ? 0n : decodeTerm(term.value),
    applyIndex,
    ...position,
  };
  return { meta, apply, applyRevision: stored?.modRevision ?? 0n, rows, rowRevisions };
}

async function* pagesOf(
  client: EtcdClient,
  range: KeyRange,
  signal: AbortSignal,
): AsyncGenerator<readonly KeyValue[]> {
  let { key } = range;
  let revision = 0n;
  // Ends: each page starts behind the last key of the one before.
  for (;;) {
    const page: RangeResponse = await client.range(
      { key, rangeEnd: range.rangeEnd, limit: pageLimit, revision },
      { deadlineMs: pageDeadlineMs, signal },
    );
    if (revision === 0n) revision = page.header?.revision ?? 0n;
    yield page.kvs;
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    key = Buffer.concat([last.key, Buffer.of(0)]);
  }
}

function tableOf(key: RowKey): Table | undefined {
  const name = key.slice(0, key.indexOf('/'));
  return TABLES.find((table) => table === name);
}

function valueOf(kv: KeyValue | undefined, absent: string): string {
  return kv === undefined ? absent : textOf(kv.value);
}

/**
 * A whole state into an empty etcd, for offline restores only: rows first, in transactions that
 * etcd takes, then `meta/…`. Until `meta/schema` is written the store counts as empty, and every
 * transaction demands that it is: a second writer, or a store with content, is refused.
 */
export async function writeWholeState(
  access: EtcdAccess,
  { meta, rows }: LoadedState,
  signal: AbortSignal,
): Promise<void> {
  const { client, keys } = access;
  await client.range({ key: keys.schema }, { deadlineMs: writeDeadlineMs, signal });
  for (const batch of batchesOf(rows)) {
    const success = batch.map(({ key, value }) => put(keys.row(key), bytesOf(value)));
    await write(access, success, signal);
  }
  await write(access, metaOps(keys, meta), signal);
}

function metaOps(keys: KeySpace, meta: Meta): Op[] {
  const { applyIndex: index, lastCommandId, assignmentRevision, ledgerGeneration } = meta;
  const apply = { index, lastCommandId, assignmentRevision, ledgerGeneration };
  return [
    put(keys.clusterUid, bytesOf(meta.clusterUid)),
    put(keys.term, encodeTerm(meta.term)),
    put(keys.apply, applyValue.encode(apply)),
    put(keys.schema, bytesOf(String(meta.schema))),
  ];
}

async function write(
  { client, keys }: EtcdAccess,
  success: Op[],
  signal: AbortSignal,
): Promise<void> {
  const compare = [createRevisionIs(keys.schema, 0n)];
  const outcome = await client.txn({ compare, success }, { deadlineMs: writeDeadlineMs, signal });
  if (outcome.kind !== 'done') throw outcome.error;
  assert(outcome.value.succeeded, 'a store that is restored into is empty');
}

function* batchesOf(rows: readonly StoredRow[]): Generator<readonly StoredRow[]> {
  let batch: StoredRow[] = [];
  let length = 0;
  for (const row of rows) {
    if (batch.length === maxBatchCount || length + row.value.length > maxBatchLength) {
      yield batch;
      batch = [];
      length = 0;
    }
    batch.push(row);
    length += row.key.length + row.value.length;
  }
  if (batch.length > 0) yield batch;
}
