// Which assignment each shard is known to act on. Revisions name points of one timeline; a restore
// starts another, in which the numbers of the old one may come again with other content. So in a
// ledger that was ever restored a reported revision counts only after this leadership has seen the
// shard take an assignment of its own. Soft: after an election it is learned again.

import type { ShardReport } from '@bigfleet/wire';

interface Sent {
  readonly revision: bigint;
  readonly isComplete: boolean;
  /** What the shard reported when this was sent for the first time. */
  readonly reportedBefore: bigint;
  readonly sendCount: number;
}

/** Replies get lost; after so many sends of the same assignment a report of it is believed. */
const SENDS_TO_BELIEVE = 2;

export class AppliedRevisions {
  readonly #isRestored: boolean;
  readonly #reported = new Map<string, bigint>();
  readonly #sent = new Map<string, Sent>();
  readonly #believed = new Map<string, bigint>();

  /** `ledgerGeneration` of this leadership; 0 = never restored. */
  constructor(ledgerGeneration: number) {
    this.#isRestored = ledgerGeneration > 0;
  }

  onReport(report: ShardReport): void {
    const { shardId, assignmentRevision } = report;
    this.#reported.set(shardId, assignmentRevision);
    const sent = this.#sent.get(shardId);
    if (sent === undefined || !sent.isComplete || sent.revision !== assignmentRevision) return;
    const isProven = sent.reportedBefore !== assignmentRevision;
    if (isProven || sent.sendCount >= SENDS_TO_BELIEVE) {
      this.#believed.set(shardId, assignmentRevision);
    }
  }

  onSent(shardId: string, assignment: { revision: bigint; complete: boolean }): void {
    const { revision, complete: isComplete } = assignment;
    const before = this.#sent.get(shardId);
    const isRepeat = before?.revision === revision && before.isComplete === isComplete;
    const reportedBefore = isRepeat ? before.reportedBefore : (this.#reported.get(shardId) ?? 0n);
    const sendCount = isRepeat ? before.sendCount + 1 : 1;
    this.#sent.set(shardId, { revision, isComplete, reportedBefore, sendCount });
  }

  /** 0 = not known to act on anything of this timeline. */
  appliedBy(shardId: string): bigint {
    const revisions = this.#isRestored ? this.#believed : this.#reported;
    return revisions.get(shardId) ?? 0n;
  }

  isReported(shardId: string): boolean {
    return this.#reported.has(shardId);
  }

  forget(shardId: string): void {
    this.#reported.delete(shardId);
    this.#sent.delete(shardId);
    this.#believed.delete(shardId);
  }
}
