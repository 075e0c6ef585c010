// What the core tells about itself: for metrics, logs, records and readers, which it does not
// know. Every callback is synchronous and cheap; none may throw.

import type { ExecuteOutcome } from '@bigfleet/base';
import type { Disposition } from '../cycle/dispose.ts';
import type { CycleAnswer, PhaseTimes } from '../engine-host/answer.ts';
import type { ActionOrder } from '../execute/execution.ts';
import type { SlowDown } from '../execute/provider-pace.ts';
import type { RoundOutcome } from '../provider/provider-rounds.ts';
import type { RejectedRecord, SkippedMetadata } from '../provider/reconcile/ingest.ts';

export interface CycleReport {
  readonly cycle: number;
  readonly answer: CycleAnswer;
  readonly disposition: Disposition;
  /** What belongs beside the record: `dispositionsOfCycle`. Empty when there is nothing to say. */
  readonly dispositions: Uint8Array;
  readonly refreshes: ReadonlyMap<string, RoundOutcome>;
  /** By phase label of the metrics; `engine` is what its thread says of its phases. */
  readonly tookMs: {
    readonly reconcile: number;
    readonly engine: PhaseTimes;
    readonly execute: number;
    readonly total: number;
  };
}

export interface ShardObserver {
  onCycle(report: CycleReport): void;
  /** A List of a provider that was never heard failed: the cycle waits, and it is asked again. */
  onRefused(provider: string, error: Error): void;
  onRejectedRecord(provider: string, record: RejectedRecord): void;
  /** Stamps of the provider's echo that could not be read; the others apply. */
  onSkippedMetadata(machineId: string, skipped: SkippedMetadata): void;
  /** No worker has it any more, and none will; how it ended is told now or later. */
  onReleased(order: ActionOrder): void;
  /** Once per execution, when it ended: for a transition that takes time, at its end. */
  onExecuted(order: ActionOrder, outcome: ExecuteOutcome, tookMs: number): void;
  onWithheld(order: ActionOrder, by: 'suppressed' | 'dryrun'): void;
  onFenced(order: ActionOrder): void;
  /** A provider answered RESOURCE_EXHAUSTED; with what follows, when it slows the provider down. */
  onThrottled(provider: string, slowDown: SlowDown | undefined): void;
  onProblem(order: ActionOrder, problem: string, error: unknown): void;
  /** A cycle threw: a bug, and the loop goes on. */
  onCycleError(error: unknown): void;
}
