// One attempt to take the `leader` key (coordinator §3.3 steps 1 to 4). The term is written in the
// same transaction as the key, above every term ever used: above the stored one, never below
// etcd's own Raft term, never below what a restore demands. An attempt whose answer was lost is
// looked up by its lease, which nobody else has.

import type { TxnResponse } from '@bigfleet/wire/etcd';
import type { GrantedLease } from '../../etcd-client/client.ts';
import {
  createRevisionIs,
  get,
  modRevisionIs,
  type Op,
  put,
  readAt,
  remove,
} from '../../etcd-client/txn.ts';
import { nextGeneration } from '../../state/meta.ts';
import { lookAtLeader } from './leader-key.ts';
import type { EtcdLeadership } from './leadership.ts';
import { type EtcdAccess, readDeadlineMs } from './options.ts';
import type { RestoreFloor } from './restore-floor.ts';
import {
  applyValue,
  decodeTerm,
  encodeTerm,
  firstApply,
  type LeaderValue,
  leaderValue,
} from './values.ts';

export interface Candidate extends EtcdAccess {
  readonly nodeId: string;
  readonly grpcAddress: string;
  readonly leaseTtlMs: number;
  /** The term will be above it. */
  readonly termFloor: bigint;
  readonly restore: RestoreFloor | undefined;
}

export interface Won {
  readonly term: bigint;
  readonly lease: GrantedLease;
  /** Create revision of the leader key: the revision of the transaction that won. */
  readonly leaderRevision: bigint;
}

/** Undefined: somebody else has the key, or nobody knows; look again. */
export async function tryToWin(
  candidate: Candidate,
  signal: AbortSignal,
): Promise<Won | undefined> {
  const { client, leaseTtlMs } = candidate;
  const limits = { deadlineMs: readDeadlineMs, signal };
  const lease = await client.leaseGrant(Math.ceil(leaseTtlMs / 1_000), limits);
  let won: Won | undefined;
  try {
    won = await standWith(candidate, lease, signal);
    return won;
  } finally {
    // Also fences an attempt that is still on its way: a put under a dead lease is refused.
    if (won === undefined) await client.leaseRevoke(lease.id, { deadlineMs: readDeadlineMs });
  }
}

async function standWith(
  candidate: Candidate,
  lease: GrantedLease,
  signal: AbortSignal,
): Promise<Won | undefined> {
  const { client, keys } = candidate;
  const limits = { deadlineMs: readDeadlineMs, signal };
  const reads = [get(keys.leader), get(keys.term), get(keys.apply)];
  const seen = await client.readTxn({ success: reads }, limits);
  if (readAt(seen, 0) !== undefined) return undefined;
  const term = nextTerm(candidate, seen);
  const outcome = await client.txn(
    {
      compare: [
        createRevisionIs(keys.leader, 0n),
        modRevisionIs(keys.term, readAt(seen, 1)?.modRevision ?? 0n),
      ],
      success: [
        put(keys.leader, leaderValue.encode(leaderOf(candidate, term)), lease.id),
        put(keys.term, encodeTerm(term)),
        ...raisedGeneration(candidate, seen),
      ],
    },
    limits,
  );
  switch (outcome.kind) {
    case 'done':
      if (!outcome.value.succeeded) return undefined;
      return { term, lease, leaderRevision: outcome.value.header?.revision ?? 0n };
    case 'refused':
      throw outcome.error;
    case 'unknown': {
      const { leader } = await lookAtLeader(candidate, signal);
      if (leader?.leaseId !== lease.id) return undefined;
      return { term, lease, leaderRevision: leader.createRevision };
    }
  }
}

function nextTerm({ termFloor, restore }: Candidate, seen: TxnResponse): bigint {
  const stored = readAt(seen, 1);
  const candidates = [
    (stored === undefined ? 0n : decodeTerm(stored.value)) + 1n,
    seen.header?.raftTerm ?? 0n,
    termFloor + 1n,
    restore?.term ?? 0n,
  ];
  return candidates.reduce((highest, term) => (term > highest ? term : highest));
}

/**
 * After a restore the ledger is older than the shards: the new generation says so (coordinator
 * §10.5). Above the stored one too, which may be newer than what the archive's meta says; raised
 * once more by a leader that dies before it removes the file, which is harmless.
 */
function raisedGeneration({ restore, keys }: Candidate, seen: TxnResponse): Op[] {
  if (restore === undefined) return [];
  const stored = readAt(seen, 2);
  const apply = stored === undefined ? firstApply : applyValue.decode(stored.value);
  return [put(keys.apply, applyValue.encode(nextGeneration(apply, restore.ledgerGeneration)))];
}

function leaderOf({ runtime, nodeId, grpcAddress }: Candidate, term: bigint): LeaderValue {
  const nowMs = Number(runtime.clock.unixNanos() / 1_000_000n);
  return { nodeId, grpcAddress, term, acquiredAt: new Date(nowMs).toISOString() };
}

/**
 * Gives the leadership up at once (coordinator §3.3 step 6), so that the next leader need not wait
 * for the lease: the key is deleted if it is still ours, then the lease is revoked. Either alone
 * would do; when both fail, the lease ends by itself.
 */
export async function resignLeadership(
  { client, keys }: EtcdAccess,
  { leaderRevision, leaseId }: EtcdLeadership,
): Promise<void> {
  const limits = { deadlineMs: readDeadlineMs };
  await client.txn(
    {
      compare: [createRevisionIs(keys.leader, leaderRevision)],
      success: [remove(keys.leader)],
    },
    limits,
  );
  await client.leaseRevoke(leaseId, limits);
}
