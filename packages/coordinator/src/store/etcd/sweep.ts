// Deletes rows that are dead by the uid rule, in batches (coordinator §3.4, `gc`): guarded by the
// leadership and by the revision of every row, so that a row that came back to life meanwhile is
// kept. Does not touch `meta/apply`: sweeping changes nothing that anybody can read.

import { BigFleetError } from '@bigfleet/base';
import { get, modRevisionIs, readAt, remove } from '../../etcd-client/txn.ts';
import type { RowKey } from '../../state/rows.ts';
import { isOurs, leaderGuards } from './commit.ts';
import type { EtcdLeadership } from './leadership.ts';
import { type EtcdAccess, maxCommitDeadlineMs } from './options.ts';

const batchSize = 100;

export async function sweepRows(
  access: EtcdAccess,
  leadership: EtcdLeadership,
  keys: readonly RowKey[],
): Promise<void> {
  const known = keys.filter((key) => leadership.cursor.revisionOf(key) !== 0n);
  for (let at = 0; at < known.length; at += batchSize) {
    await sweepBatch(access, leadership, known.slice(at, at + batchSize));
  }
}

async function sweepBatch(
  { client, keys: space }: EtcdAccess,
  leadership: EtcdLeadership,
  batch: readonly RowKey[],
): Promise<void> {
  const { cursor } = leadership;
  const rows = batch.map((key) => ({ at: space.row(key), revision: cursor.revisionOf(key) }));
  const outcome = await client.txn(
    {
      compare: [
        ...leaderGuards(space, leadership),
        ...rows.map(({ at, revision }) => modRevisionIs(at, revision)),
      ],
      success: rows.map(({ at }) => remove(at)),
      failure: [get(space.leader)],
    },
    { deadlineMs: maxCommitDeadlineMs },
  );
  // An unknown outcome is harmless: the next sweep, or the next guard on such a row, finds out.
  if (outcome.kind !== 'done') throw outcome.error;
  if (outcome.value.succeeded) {
    for (const key of batch) cursor.rows.delete(key);
    return;
  }
  // A row that somebody else changed: the batch is left for the sweep after the next load.
  if (isOurs(readAt(outcome.value, 0), leadership)) return;
  leadership.lose('guard_failed');
  throw new BigFleetError('coordinator_deposed', 'deposed while sweeping');
}
