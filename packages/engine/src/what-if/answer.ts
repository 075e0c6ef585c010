// What a what-if answers: one plain value, the same for the command line, the dashboard and a worker that
// posts it. Times are milliseconds from the first recorded cycle. Every list is bounded.

import type { PriorityClass, UnmetCode } from '@bigfleet/base';
import type { Rails } from '../actions/rails.ts';
import type { ReadTrace } from './recording.ts';

export const MAX_POINTS = 500;
export const MAX_SHOWN_DIFFERENCES = 20;
export const MAX_SHOWN_ACTIONS = 5;
/** Rows that are told apart when those that were ever unmet are counted; beyond it the count stands still. */
export const MAX_COUNTED_ROWS = 100_000;

export type Transition = 'create' | 'configure' | 'drain' | 'delete';

export interface TransitionDwell {
  readonly provider: string;
  readonly transition: Transition;
  /** Median of what was recorded; a default when nothing was. */
  readonly ms: number;
  readonly observedCount: number;
}

export interface WhatIfAnswer {
  /** As they are written. */
  readonly changes: readonly string[];
  readonly seed: string;
  readonly durationMs: number;
  readonly cycleCount: number;
  readonly traces: readonly ReadTrace[];
  readonly model: {
    readonly dwells: readonly TransitionDwell[];
    readonly rails: Rails;
    readonly breakAfterMs: number;
  };
  readonly fidelity: Fidelity;
  readonly baseline: SideAnswer;
  readonly changed: SideAnswer;
  /** Where the changed side fails and the baseline does not; at most one per tier, the earliest first. */
  readonly breaks: readonly Break[];
  readonly differingCycleCount: number;
  /** The first cycles that decided differently. */
  readonly differences: readonly CycleDecisions[];
}

/** How far the baseline is from what was recorded: what the model itself gets wrong. */
export interface Fidelity {
  readonly recorded: FleetAverage;
  readonly baseline: FleetAverage;
  /** Mean distance over the points, whichever side is higher. */
  readonly boundDistance: number;
  readonly dollarsPerHourDistance: number;
  /** Failures and jumps of the recording that did not fit the baseline's machine. */
  readonly skippedEventCount: number;
}

export interface FleetAverage {
  readonly boundCount: number;
  readonly dollarsPerHour: number;
}

export interface SideAnswer {
  readonly money: {
    readonly dollars: number;
    readonly averagePerHour: number;
    readonly medianPerHour: number;
    readonly highestPerHour: number;
    /** By the name of the capacity type. */
    readonly dollarsByCapacityType: Readonly<Record<string, number>>;
  };
  /** Of machines that are paid for, by the name of the capacity type. */
  readonly machineHoursByCapacityType: Readonly<Record<string, number>>;
  /** By the name of the state. */
  readonly machineHoursByState: Readonly<Record<string, number>>;
  readonly expectedInterruptions: number;
  readonly shortfalls: Readonly<Record<PriorityClass, TierShortfalls>>;
  readonly churn: Churn;
  readonly series: Series;
}

/** A row is a (cluster, fingerprint). Unmet is what the shortfall ledger holds (engine §10). */
export interface TierShortfalls {
  readonly unmetSeconds: number;
  readonly rowCount: number;
  readonly longestMs: number;
}

export interface Churn {
  /** What the rails let pass, by the name of the action. */
  readonly actionsByKind: Readonly<Record<string, number>>;
  readonly deferredCount: number;
  /** Machines that were bound to another cluster than before. */
  readonly clusterChangeCount: number;
  /** Machines that left with a change: of a lost zone, or never bought. */
  readonly removedCount: number;
}

/** Columns of equal length, at most MAX_POINTS; a point covers `widthMs`. */
export interface Series {
  readonly widthMs: number;
  readonly dollarsPerHour: readonly number[];
  readonly boundCount: readonly number[];
  /** The most at any cycle of the point. */
  readonly unmetRows: Readonly<Record<PriorityClass, readonly number[]>>;
}

export interface Break {
  readonly tier: PriorityClass;
  /** When it had been unmet for as long as the model's `breakAfterMs`. */
  readonly atMs: number;
  readonly unmetSinceMs: number;
  readonly cluster: string;
  readonly fingerprint: string;
  readonly reasonCode: UnmetCode;
}

export interface CycleDecisions {
  /** From 1. */
  readonly cycle: number;
  readonly atMs: number;
  readonly onlyBaselineCount: number;
  readonly onlyChangedCount: number;
  /** In words, at most MAX_SHOWN_ACTIONS. */
  readonly onlyBaseline: readonly string[];
  readonly onlyChanged: readonly string[];
}

export interface WhatIfProblem {
  readonly code: 'no_trace' | 'no_cycle' | 'unknown_subject' | 'too_many_machines';
  readonly text: string;
}
