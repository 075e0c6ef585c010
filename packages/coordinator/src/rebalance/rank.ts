// The best of several seats: the most of something, then the smallest shard id, then the smallest
// address. A total order, so that equal pictures give equal plans on every machine.

import { compareText } from '@bigfleet/base';
import type { Seat } from './pass-fleet.ts';
import type { RejectionLog } from './rejection-log.ts';

export function best<S extends Seat>(
  seats: readonly S[],
  worth: (seat: S) => number,
  log: RejectionLog,
  tier: 1 | 3,
): S | undefined {
  const [first, ...others] = seats.toSorted(
    (a, b) =>
      worth(b) - worth(a) ||
      compareText(a.member.picture.shardId, b.member.picture.shardId) ||
      compareText(a.provider.address, b.provider.address),
  );
  for (const { member, provider } of others) {
    log.reject(tier, 'donor_ranked_lower', member.picture.shardId, provider.address);
  }
  return first;
}
