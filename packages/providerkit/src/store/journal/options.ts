// What a store is given: its bounds, whose defaults fit a provider of 500,000 machines in a small
// container, and who hears of it.

import type { BigFleetError } from '@bigfleet/base';

export interface JournalLimits {
  /** Commits that share one fsync hold at most this together; a larger one goes alone. */
  readonly maxBatchBytes: number;
  /** Commits that wait; more are refused with `store_unavailable`. */
  readonly maxPendingCommits: number;
  readonly maxPendingBytes: number;
  /** A journal below this is never compacted; above it, once it outgrows the snapshot. */
  readonly minCompactBytes: number;
  /** A journal that compaction could not replace in time takes no more than this. */
  readonly maxJournalBytes: number;
  /** Between two attempts to start a new generation after a failed fsync. */
  readonly repairPauseMs: number;
}

const MIB = 1_024 * 1_024;

export const DEFAULT_LIMITS: JournalLimits = {
  maxBatchBytes: 16 * MIB,
  maxPendingCommits: 20_000,
  maxPendingBytes: 512 * MIB,
  minCompactBytes: 8 * MIB,
  maxJournalBytes: 1_024 * MIB,
  repairPauseMs: 500,
};

/**
 * What a store tells its owner beside the results of commits, for metrics and logs. Called
 * synchronously; an observer must not throw.
 */
export interface JournalObserver {
  /** One fsync made these durable. */
  readonly onCommitted?: (batch: CommittedBatch) => void;
  /** Every commit of the batch was refused with this error. */
  readonly onCommitFailed?: (error: BigFleetError) => void;
  readonly onCompacted?: (snapshot: {
    readonly bytes: number;
    readonly generation: number;
  }) => void;
  /** Nothing is lost by it: the journal goes on growing, and compaction is tried again. */
  readonly onCompactionFailed?: (error: BigFleetError) => void;
}

export interface CommittedBatch {
  readonly commitCount: number;
  readonly bytes: number;
  readonly durationMs: number;
}
