// What became of a cycle's actions between decision and execution (engine §15.4, "record and
// counters only"), and which roll-ups were refused or held since the cycle before (engine §15.5).
// Written by whoever disposes, after the decision record and beside it: the record says what was
// decided and stays as the engine wrote it.
//
// An action is named by its place in the record. What was held back comes in long rows (the tail of
// a cluster's reclaims, all that follows a limit), so runs of places with one fate are written, a
// bounded number; the counts are exact however many runs were left off. An action that no run names
// was handed over for execution, and what came of that is in the audit log.

import type { DeferredOutcome, InstructionReason, SkippedOutcome } from '@bigfleet/base';

export const DISPOSITIONS_MAGIC = 0x4246_4431; // "BFD1"
/** Where a record has its format: far from all of those, so that a reader can tell them apart. */
export const DISPOSITIONS_FORMAT = 129;

/** At most so many runs, whatever the cycle: about 20 KB. */
export const MAX_DISPOSITION_RUNS = 4096;

export type DispositionCode =
  | DeferredOutcome
  | SkippedOutcome
  | Extract<InstructionReason, 'provider_unreachable'>;

/** By number. A code is never renumbered; new ones are appended. */
export const DISPOSITION_CODES: readonly DispositionCode[] = [
  'deferred_reclaim_cap',
  'deferred_max_actions',
  'deduped_pending',
  'deduped_state',
  'dropped_queue_full',
  'provider_unreachable',
  'suppressed',
  'dryrun',
];

export interface CycleDispositions extends RefusedRollups {
  readonly cycle: number;
  /** Rail 1 as it was; 0 is off. */
  readonly reclaimCapFraction: number;
  /** 0 is unlimited. */
  readonly maxActionsPerCycle: number;
  /** How many actions the record has. */
  readonly actionCount: number;
  /** Exact, whatever the runs leave off; codes that did not occur are absent. */
  readonly counts: ReadonlyMap<DispositionCode, number>;
  /** By place, without overlap. When some were left off, they are behind the last one. */
  readonly runs: readonly DispositionRun[];
}

/** `count` actions of the record from place `first` on. */
export interface DispositionRun {
  readonly first: number;
  readonly count: number;
  readonly code: DispositionCode;
}

/** Since the cycle before. */
export interface RefusedRollups {
  readonly rollups: readonly RefusedRollup[];
  /** Refused or held, and not named in `rollups`: the bound was reached. */
  readonly unnamedRollupCount: number;
}

/** Roll-ups of one cluster with one code; none of them changed its demand. */
export interface RefusedRollup {
  readonly cluster: string;
  /** One of base's roll-up refusals. */
  readonly code: string;
  readonly count: number;
  /** Of the last one, cut to a bound. */
  readonly detail: string;
}
