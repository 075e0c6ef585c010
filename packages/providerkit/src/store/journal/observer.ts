// What a store tells its owner beside the results of commits, for metrics and logs. Called
// synchronously; an observer must not throw.

import type { BigFleetError } from '@bigfleet/base';

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
