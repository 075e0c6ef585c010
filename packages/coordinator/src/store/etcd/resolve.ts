// What became of a transaction whose answer was lost (coordinator §3.5). A linearizable read of
// `leader` and `meta/apply` decides. "Not there" alone is not enough: the transaction may still be
// on its way and pass its guards later. So the apply record is first written anew under the same
// guards (the fence); from then on the late one fails G3, and "not committed" is final.

import { get, put, readAt } from '../../etcd-client/txn.ts';
import type { CommitRequest, Resolution } from '../store.ts';
import { applyGuard, isOurs, leaderGuards, noteCommitted } from './commit.ts';
import type { EtcdLeadership } from './leadership.ts';
import { type EtcdAccess, readDeadlineMs } from './options.ts';
import { type ApplyValue, applyValue } from './values.ts';

export async function resolveCommit(
  access: EtcdAccess,
  leadership: EtcdLeadership,
  request: CommitRequest,
): Promise<Resolution> {
  if (!leadership.stillHolds()) return 'deposed';
  // Whatever made the look fail, we know no more than before it.
  const seen = await look(access, leadership).catch(() => undefined);
  if (seen === undefined) return leadership.stillHolds() ? 'unknown' : 'deposed';
  if (!seen.isOurs) return deposed(leadership);
  const { apply, revision } = seen;
  if (isCommandOf(apply, request)) {
    noteCommitted(leadership, request, revision);
    return 'committed';
  }
  if (apply.index !== request.expectedIndex) return deposed(leadership);
  if (revision !== leadership.cursor.applyRevision) {
    // An earlier fence of ours whose answer was lost too: the late transaction cannot pass it.
    leadership.cursor.moveApply(apply, revision);
    return 'not-committed';
  }
  return fence(access, leadership, apply);
}

interface Seen {
  readonly isOurs: boolean;
  readonly apply: ApplyValue;
  readonly revision: bigint;
}

async function look({ client, keys }: EtcdAccess, leadership: EtcdLeadership): Promise<Seen> {
  const answer = await client.readTxn(
    { success: [get(keys.leader), get(keys.apply)] },
    { deadlineMs: readDeadlineMs, signal: leadership.lost },
  );
  const apply = readAt(answer, 1);
  return {
    isOurs: isOurs(readAt(answer, 0), leadership) && apply !== undefined,
    apply: apply === undefined ? leadership.cursor.apply : applyValue.decode(apply.value),
    revision: apply?.modRevision ?? 0n,
  };
}

async function fence(
  { client, keys }: EtcdAccess,
  leadership: EtcdLeadership,
  apply: ApplyValue,
): Promise<Resolution> {
  const outcome = await client.txn(
    {
      compare: [...leaderGuards(keys, leadership), applyGuard(keys, leadership.cursor)],
      success: [put(keys.apply, applyValue.encode(apply))],
    },
    { deadlineMs: readDeadlineMs },
  );
  // Refused guards: the late transaction won the race. The next look tells.
  if (outcome.kind !== 'done' || !outcome.value.succeeded) return 'unknown';
  leadership.cursor.moveApply(apply, outcome.value.header?.revision ?? 0n);
  return 'not-committed';
}

function isCommandOf(apply: ApplyValue, { expectedIndex, commandId }: CommitRequest): boolean {
  return apply.index === expectedIndex + 1 && apply.lastCommandId === commandId;
}

function deposed(leadership: EtcdLeadership): Resolution {
  leadership.lose('guard_failed');
  return 'deposed';
}
