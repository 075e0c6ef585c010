// The first write into an empty store, and the check of what is there (coordinator §3, `open`).
// Guarded by the absence of `meta/schema`: of three replicas that all may bootstrap, one writes and
// the others find it written. A newer schema is refused before anything else is read.

import { BigFleetError } from '@bigfleet/base';
import { createRevisionIs, get, put, readAt } from '../../etcd-client/txn.ts';
import { firstMeta, SCHEMA } from '../../state/meta.ts';
import { bytesOf, textOf } from './key-space.ts';
import { type EtcdAccess, readDeadlineMs } from './options.ts';
import { applyValue, encodeTerm, firstApply } from './values.ts';

/** `undefined` = nothing was ever written. */
export async function readClusterUid(
  { client, keys }: EtcdAccess,
  signal: AbortSignal,
): Promise<string | undefined> {
  const answer = await client.readTxn(
    { success: [get(keys.schema), get(keys.clusterUid)] },
    { deadlineMs: readDeadlineMs, signal },
  );
  const schema = readAt(answer, 0);
  if (schema === undefined) return undefined;
  const version = textOf(schema.value);
  if (version !== String(SCHEMA)) {
    const message = `the store has schema ${version}, this program knows ${SCHEMA}`;
    throw new BigFleetError('coordinator_store_newer', message);
  }
  return textOf(readAt(answer, 1)?.value ?? new Uint8Array());
}

/** Whether it or somebody else wrote, the store is not empty afterwards. */
export async function bootstrapStore(
  { runtime, client, keys }: EtcdAccess,
  signal: AbortSignal,
): Promise<void> {
  const { schema, clusterUid, term } = firstMeta(runtime);
  const outcome = await client.txn(
    {
      compare: [createRevisionIs(keys.schema, 0n)],
      success: [
        put(keys.schema, bytesOf(String(schema))),
        put(keys.clusterUid, bytesOf(clusterUid)),
        put(keys.term, encodeTerm(term)),
        put(keys.apply, applyValue.encode(firstApply)),
      ],
    },
    { deadlineMs: readDeadlineMs, signal },
  );
  if (outcome.kind !== 'done') throw outcome.error;
}
