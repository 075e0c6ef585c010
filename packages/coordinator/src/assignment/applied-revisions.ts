// Which assignment each shard is known to act on, by its last report to this leadership. A revision of
// a generation that was lost in a restore says nothing about this ledger. Soft: after an election it is
// learned again.

import type { ShardReport } from '@bigfleet/wire';
import { firstRevisionOf } from '../state/meta.ts';

export class AppliedRevisions {
  readonly #first: bigint;
  readonly #reported = new Map<string, bigint>();

  constructor(ledgerGeneration: number) {
    this.#first = BigInt(firstRevisionOf(ledgerGeneration));
  }

  onReport({ shardId, assignmentRevision }: ShardReport): void {
    this.#reported.set(shardId, assignmentRevision);
  }

  /** 0 = not known to act on anything of this generation. */
  appliedBy(shardId: string): bigint {
    const reported = this.#reported.get(shardId) ?? 0n;
    return reported >= this.#first ? reported : 0n;
  }

  forget(shardId: string): void {
    this.#reported.delete(shardId);
  }
}
