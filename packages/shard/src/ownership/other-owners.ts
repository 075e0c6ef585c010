// Which other shards this one knows to own something beside it: whose domains are foreign to it, to whom
// the ledger has given machines, whom it has given some itself. Told to a ledger that was restored from
// before such a shard registered: it must not hand out what a silent shard is using. Pure.

import { compareText } from '@bigfleet/base';
import type { StoredAssignment } from './assignment.ts';
import type { TransferBook } from './transfer-book.ts';

export function otherOwners(
  shardId: string,
  { foreignDomains, released }: StoredAssignment,
  book: TransferBook,
): readonly string[] {
  const given = [...book.records.values()].filter(({ state }) => state !== 'claimed');
  const ids = new Set([
    ...foreignDomains.map((domain) => domain.shardId),
    ...released.map(({ peerShardId }) => peerShardId),
    ...given.map(({ peerShardId }) => peerShardId),
  ]);
  return [...ids].filter((id) => id !== '' && id !== shardId).sort(compareText);
}
