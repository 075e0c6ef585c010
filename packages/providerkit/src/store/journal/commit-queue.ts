// Commits that wait for the disk. Everything that arrives while one fsync runs is taken together
// and shares the next: that is what makes durable transitions cheap. First in, first out; bounded
// by count and bytes, and what is over the bound is refused at once instead of waiting forever.

import type { BigFleetError } from '@bigfleet/base';
import type { StoreChange } from '../store.ts';
import { unavailable } from './failures.ts';
import type { JournalLimits } from './options.ts';

export interface PendingCommit {
  readonly changes: readonly StoreChange[];
  readonly payload: readonly Buffer[];
  readonly bytes: number;
  readonly resolve: () => void;
  readonly reject: (error: BigFleetError) => void;
}

export class CommitQueue {
  readonly #limits: JournalLimits;
  #waiting: PendingCommit[] = [];
  #bytes = 0;

  constructor(limits: JournalLimits) {
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** Undefined when it is queued, else why not. */
  push(commit: PendingCommit): BigFleetError | undefined {
    const { maxPendingCommits, maxPendingBytes } = this.#limits;
    // A commit that is larger than the bound may wait alone, or it could never be made.
    const isFull =
      this.#waiting.length >= maxPendingCommits ||
      (this.#bytes > 0 && this.#bytes + commit.bytes > maxPendingBytes);
    if (isFull) return unavailable(`${this.#waiting.length} commits wait for the disk already`);
    this.#waiting.push(commit);
    this.#bytes += commit.bytes;
    return undefined;
  }

  /** The oldest commits, as many as one batch may hold, at least one. */
  take(): readonly PendingCommit[] {
    let bytes = 0;
    let count = 0;
    for (const commit of this.#waiting) {
      if (count > 0 && bytes + commit.bytes > this.#limits.maxBatchBytes) break;
      bytes += commit.bytes;
      count += 1;
    }
    const batch = this.#waiting.slice(0, count);
    this.#waiting = this.#waiting.slice(count);
    this.#bytes -= bytes;
    return batch;
  }
}
