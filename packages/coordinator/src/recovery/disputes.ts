// What two shards claim at once after a restore, until an operator has said who is right or one of
// them is gone or has let go (coordinator §10.5 rule 4). A decision holds for the rest of the
// leadership: the shard that it went against still holds the thing until its next complete
// assignment.

import type { Claim } from './claims.ts';

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
