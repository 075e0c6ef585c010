// A linearizable look at the `leader` key: who leads, and the revision and lease that tell one
// holding of the key from the next one by the same node.

import { type EtcdAccess, readDeadlineMs } from './options.ts';
import { leaderValue, type LeaderValue } from './values.ts';

export interface LeaderSeen {
  readonly value: LeaderValue;
  readonly createRevision: bigint;
  readonly leaseId: bigint;
}

export interface LeaderLook {
  readonly leader: LeaderSeen | undefined;
  /** Of the store when it looked: a watch from the next one misses nothing. */
  readonly revision: bigint;
}

export async function lookAtLeader(
  { client, keys }: EtcdAccess,
  signal: AbortSignal,
): Promise<LeaderLook> {
  const answer = await client.range({ key: keys.leader }, { deadlineMs: readDeadlineMs, signal });
  const revision = answer.header?.revision ?? 0n;
  const kv = answer.kvs[0];
  if (kv === undefined) return { leader: undefined, revision };
  const { createRevision, lease } = kv;
  return {
    leader: { value: leaderValue.decode(kv.value), createRevision, leaseId: lease },
    revision,
  };
}

export function isSameHolding(a: LeaderSeen, b: LeaderSeen | undefined): boolean {
  return b !== undefined && a.createRevision === b.createRevision && a.leaseId === b.leaseId;
}
