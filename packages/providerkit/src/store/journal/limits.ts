// What bounds the store. Defaults fit a provider of 500,000 machines in a small container.

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
