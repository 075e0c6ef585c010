// The guards of every transaction (coordinator §3.4). G1 and G2 fence zombies, G3 makes apply one
// total order, G4 and G5 catch edits that bypass it. What a failed transaction read in its `else`
// branch says which of them it was.

import type { KeyValue } from '@bigfleet/wire/etcd';
import { createRevisionIs, type Guard, leaseIs, modRevisionIs } from '../../etcd-client/txn.ts';
import type { Change, RowKey } from '../../state/writes.ts';
import type { KeySpace } from './key-space.ts';
import type { EtcdLeadership } from './leadership.ts';
import type { LedgerCursor } from './ledger-cursor.ts';

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
export function rowGuards(keys: KeySpace, cursor: LedgerCursor, change: Change): Guard[] {
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
