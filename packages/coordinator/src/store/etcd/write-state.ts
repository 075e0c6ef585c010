// A whole state into an empty etcd, for offline restores only: rows first, in transactions that etcd
// takes, then `meta/…`. Until `meta/schema` is written the store counts as empty, and every
// transaction demands that it is: a second writer, or a store with content, is refused.

import { assert } from '@bigfleet/base';
import type { EtcdClient } from '../../etcd-client/index.ts';
import { createRevisionIs, type Op, put } from '../../etcd-client/txn.ts';
import type { Meta } from '../../state/rows.ts';
import type { LoadedState, StoredRow } from '../../state/writes.ts';
import { bytesOf, type KeySpace } from './key-space.ts';
import { encodeApply, encodeTerm } from './values.ts';

const maxBatchCount = 100;
/** Well below etcd's `--max-request-bytes` of 1.5 MiB. */
const maxBatchLength = 512 * 1_024;
/** The first one also waits for the server to be up. */
const writeDeadlineMs = 60_000;

export async function writeWholeState(
  client: EtcdClient,
  keys: KeySpace,
  { meta, rows }: LoadedState,
  signal: AbortSignal,
): Promise<void> {
  await client.range({ key: keys.schema }, { deadlineMs: writeDeadlineMs, signal });
  for (const batch of batchesOf(rows)) {
    const success = batch.map(({ key, value }) => put(keys.row(key), bytesOf(value)));
    await write(client, keys, success, signal);
  }
  await write(client, keys, metaOps(keys, meta), signal);
}

function metaOps(keys: KeySpace, meta: Meta): Op[] {
  const { applyIndex: index, lastCommandId, assignmentRevision, ledgerGeneration } = meta;
  const apply = { index, lastCommandId, assignmentRevision, ledgerGeneration };
  return [
    put(keys.clusterUid, bytesOf(meta.clusterUid)),
    put(keys.term, encodeTerm(meta.term)),
    put(keys.apply, encodeApply(apply)),
    put(keys.schema, bytesOf(String(meta.schema))),
  ];
}

async function write(
  client: EtcdClient,
  keys: KeySpace,
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
