// What a recovery waits for, as a value and as the text that an operator reads in `bigfleetctl status`,
// in `doctor` and in refusals. The text after the provider is the only place on the wire for it
// (GetStatusResponse.recovering_providers); `doctor` knows these three beginnings.

import type { Claim } from './claims.ts';

export type RecoveryWait =
  /** Registered, and has not said what it holds. */
  | { readonly kind: 'silent'; readonly shardId: string }
  /** Not in the restored ledger, but another shard knows it as an owner beside itself. */
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

// What two shards claim at once after a restore, until an operator has said who is right or one of
// them is gone or has let go (coordinator §10.5 rule 4). A decision holds for the rest of the leadership: the
// shard that it went against still holds the thing until its next complete assignment.

export interface Dispute {
  readonly subject: string;
  readonly claim: Claim;
  readonly claimants: readonly string[];
  /** Providers that stay in recovery for it. */
  readonly addresses: ReadonlySet<string>;
}

export class Disputes {
  readonly #open = new Map<string, Dispute>();
  readonly #decided = new Set<string>();

  /** True when it is news. */
  add(dispute: Dispute): boolean {
    if (this.isKnown(dispute.subject)) return false;
    this.#open.set(dispute.subject, dispute);
    return true;
  }

  decide(subject: string): void {
    this.#decided.add(subject);
    this.#open.delete(subject);
  }

  /** Open or decided. */
  isKnown(subject: string): boolean {
    return this.#open.has(subject) || this.#decided.has(subject);
  }

  on(subject: string): Dispute | undefined {
    return this.#open.get(subject);
  }

  all(): readonly Dispute[] {
    return [...this.#open.values()];
  }

  /** Ends those in which the shard is a claimant, except for what it still claims. */
  dropOf(shardId: string, stillClaimed: ReadonlySet<string>): void {
    for (const [subject, { claimants }] of this.#open) {
      if (claimants.includes(shardId) && !stillClaimed.has(subject)) this.#open.delete(subject);
    }
  }
}
