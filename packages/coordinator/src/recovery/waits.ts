// What a recovery waits for, as a value and as the text that an operator reads in `bigfleetctl status`,
// in `doctor` and in refusals. The text after the provider is the only place on the wire for it
// (GetStatusResponse.recovering_providers); `doctor` knows these three beginnings.

import type { Claim } from '../reports/held.ts';

/** Two shards claim one thing after a restore, or a shard claims what the ledger refuses to take in. */
export interface Dispute {
  readonly subject: string;
  readonly claim: Claim;
  readonly claimants: readonly string[];
  /** Providers that stay in recovery for it. */
  readonly addresses: ReadonlySet<string>;
}

export type RecoveryWait =
  /** The shard is registered and has not said what it holds. */
  | { readonly kind: 'silent'; readonly shardId: string }
  /** The restored ledger does not have the shard, and other shards name it as an owner. */
  | { readonly kind: 'unknown'; readonly shardId: string; readonly namedBy: readonly string[] }
  | { readonly kind: 'dispute'; readonly dispute: Dispute };

export function waitText(wait: RecoveryWait): string {
  switch (wait.kind) {
    case 'silent':
      return `waits for shard ${wait.shardId}, which has not said what it holds`;
    case 'unknown': {
      const namedBy = wait.namedBy.join(' and ');
      return `waits for shard ${wait.shardId}, unknown to the ledger and named by ${namedBy}`;
    }
    case 'dispute': {
      const { subject, claimants } = wait.dispute;
      return `waits for a decision: ${subject} is claimed by ${claimants.join(' and ')}`;
    }
  }
}
