// Gives the leadership up at once (coordinator §3.3 step 6), so that the next leader need not wait
// for the lease: the key is deleted if it is still ours, then the lease is revoked. Either alone
// would do; when both fail, the lease ends by itself.

import { createRevisionIs, remove } from '../../etcd-client/txn.ts';
import type { Ledger } from './commit.ts';
import type { EtcdLeadership } from './leadership.ts';
import { readDeadlineMs } from './options.ts';

export async function resignLeadership(
  { client, keys }: Ledger,
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
