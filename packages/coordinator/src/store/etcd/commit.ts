// One command, one transaction, sent once (coordinator §3.4, §3.5). The cursor moves only when etcd
// said that it was written. A refusal is told apart by what the `else` branch read; an outcome that
// nobody knows stays unknown until it is resolved by reading.

import { BigFleetError } from '@bigfleet/base';
import type { TxnResponse, KeyValue } from '@bigfleet/wire/etcd';
import {
  get,
  maxTxnOps,
  type Op,
  put,
  readAt,
  remove,
  createRevisionIs,
  type Guard,
  leaseIs,
  modRevisionIs,
} from '../../etcd-client/txn.ts';
import { encodeRow } from '../../state/row-format.ts';
import type { Write, Change, RowKey } from '../../state/rows.ts';
import type { CommitRequest, CommitResult } from '../store.ts';
import { bytesOf, type KeySpace } from './key-space.ts';
import type { EtcdLeadership, LedgerCursor } from './leadership.ts';
import { type EtcdAccess, maxCommitDeadlineMs } from './options.ts';
import { type ApplyValue, applyValue } from './values.ts';

export async function commitChange(
  { runtime, client, keys }: EtcdAccess,
  leadership: EtcdLeadership,
  request: CommitRequest,
): Promise<CommitResult> {
  if (!leadership.stillHolds()) return { kind: 'refused', reason: 'deposed' };
  const { cursor } = leadership;
  if (request.expectedIndex !== cursor.apply.index) {
    return { kind: 'refused', reason: 'index_moved' };
  }
  const guards = [
    ...leaderGuards(keys, leadership),
    applyGuard(keys, cursor),
    ...rowGuards(keys, cursor, request.change),
  ];
  const ops = [
    ...request.change.writes.map((write) => opOf(keys, write)),
    put(keys.apply, applyValue.encode(applyAfter(request))),
  ];
  if (guards.length > maxTxnOps || ops.length > maxTxnOps) {
    return notSent(`${ops.length} operations do not fit into one etcd transaction`);
  }
  const leftMs = request.deadlineMs - runtime.clock.monotonicMs();
  if (leftMs <= 0) return notSent('the deadline passed before it was sent');
  const deadlineMs = Math.min(leftMs, maxCommitDeadlineMs);
  const failure = [get(keys.leader), get(keys.apply)];
  const outcome = await client.txn({ compare: guards, success: ops, failure }, { deadlineMs });
  switch (outcome.kind) {
    case 'done':
      return settle(leadership, request, outcome.value);
    case 'refused':
      return { kind: 'failed', error: outcome.error };
    case 'unknown':
      return outcome;
  }
}

/** Also used when a resolution finds that the command did commit. */
export function noteCommitted(
  { cursor }: EtcdLeadership,
  request: CommitRequest,
  revision: bigint,
): void {
  for (const { kind, key } of request.change.writes) {
    if (kind === 'put') cursor.rows.set(key, revision);
    else cursor.rows.delete(key);
  }
  cursor.moveApply(applyAfter(request), revision);
}

function settle(
  leadership: EtcdLeadership,
  request: CommitRequest,
  answer: TxnResponse,
): CommitResult {
  if (answer.succeeded) {
    noteCommitted(leadership, request, answer.header?.revision ?? 0n);
    return { kind: 'committed' };
  }
  if (!isOurs(readAt(answer, 0), leadership)) {
    leadership.lose('guard_failed');
    return { kind: 'refused', reason: 'deposed' };
  }
  const applyRevision = readAt(answer, 1)?.modRevision ?? 0n;
  const hasMoved = applyRevision !== leadership.cursor.applyRevision;
  return { kind: 'refused', reason: hasMoved ? 'index_moved' : 'row_moved' };
}

function applyAfter({ expectedIndex, commandId, change }: CommitRequest): ApplyValue {
  return {
    index: expectedIndex + 1,
    lastCommandId: commandId,
    assignmentRevision: change.assignmentRevision,
    ledgerGeneration: change.ledgerGeneration,
  };
}

function opOf(keys: KeySpace, write: Write): Op {
  const key = keys.row(write.key);
  if (write.kind === 'delete') return remove(key);
  return put(key, bytesOf(encodeRow(write.table, write.row)));
}

function notSent(detail: string): CommitResult {
  return { kind: 'failed', error: new BigFleetError('etcd_refused', `commit: ${detail}`) };
}

// The guards of every transaction (coordinator §3.4). G1 and G2 fence zombies, G3 makes apply one
// total order, G4 and G5 catch edits that bypass it. What a failed transaction read in its `else`
// branch says which of them it was.

/** G1, G2. */
export function leaderGuards(keys: KeySpace, leadership: EtcdLeadership): Guard[] {
  return [
    createRevisionIs(keys.leader, leadership.leaderRevision),
    leaseIs(keys.leader, leadership.leaseId),
  ];
}

/** G3. */
export function applyGuard(keys: KeySpace, cursor: LedgerCursor): Guard {
  return modRevisionIs(keys.apply, cursor.applyRevision);
}

/** G4, G5 and the rows that the decision read; each key once. */
function rowGuards(keys: KeySpace, cursor: LedgerCursor, change: Change): Guard[] {
  const named = new Set<RowKey>([...change.writes.map(({ key }) => key), ...change.reads]);
  return [...named].map((key) => {
    const revision = cursor.revisionOf(key);
    const at = keys.row(key);
    return revision === 0n ? createRevisionIs(at, 0n) : modRevisionIs(at, revision);
  });
}

/** Is the leader key that was read ours? */
export function isOurs(leader: KeyValue | undefined, leadership: EtcdLeadership): boolean {
  return (
    leader !== undefined &&
    leader.createRevision === leadership.leaderRevision &&
    leader.lease === leadership.leaseId
  );
}
