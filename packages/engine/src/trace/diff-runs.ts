// Two builds of the engine over one trace: what a change of code would have decided otherwise,
// on recorded reality instead of invented fleets. Both run in step over the same inputs; the
// recorded decisions say which of them, if any, is the build that ran.

import { dollarsFromMicrosPerHour, type MicrosPerHour } from '@bigfleet/base';
import { actionKindName, type ActionKindCode } from '../model/action.ts';
import {
  type ActionDifference,
  addKinds,
  countKinds,
  describeDifference,
  differenceOf,
  type KindCounts,
} from './action-difference.ts';
import type { TraceSource } from '../bytes/byte-source.ts';
import type { EngineBuild } from './engine-like.ts';
import { describeEnd, type TraceEnd } from './entry.ts';
import { type EngineFailure, ReplayEngine, type ReplayMode } from './replay-engine.ts';
import { type RunTally, Tally } from './run-tally.ts';
import { TraceReader } from './trace-reader.ts';

export type Side = 'a' | 'b';

export interface DiffOptions {
  readonly mode?: ReplayMode;
}

export interface DiffReport {
  readonly outcome: 'identical' | 'different' | 'failed';
  /** Undefined after a failure: the trace was not read to its end. */
  readonly end: TraceEnd | undefined;
  readonly cycleCount: number;
  readonly differingCount: number;
  readonly firstDifference: CycleDifference | undefined;
  readonly a: RunTally;
  readonly b: RunTally;
  /** By kind: what only one side decided in a cycle, summed over the cycles. */
  readonly onlyAByKind: KindCounts;
  readonly onlyBByKind: KindCounts;
  /** Cycles that decided something else than was recorded. */
  readonly recordedMismatches: Readonly<Record<Side, number>>;
  readonly failure: (EngineFailure & { readonly side: Side; readonly offset: number }) | undefined;
}

export interface CycleDifference {
  /** From 1. */
  readonly cycle: number;
  readonly nowMs: number;
  /** Of the frame that holds the cycle. */
  readonly offset: number;
  readonly difference: ActionDifference;
}

/** `a` is what the change is compared with, `b` the change. */
export function diffRuns(
  source: TraceSource,
  a: EngineBuild,
  b: EngineBuild,
  options: DiffOptions = {},
): DiffReport {
  const reader = new TraceReader(source);
  const run = new DiffRun(a, b, options.mode ?? 'recorded');
  for (const entry of reader) {
    for (const side of ['a', 'b'] as const) {
      const failure = run[side].apply(entry);
      if (failure === undefined) continue;
      const { offset } = reader;
      return run.report(undefined, { ...failure, side, offset });
    }
    if (entry.kind === 'cycle') run.compare(entry.options.nowMs, reader.offset);
    else if (entry.kind === 'decided') run.compareRecorded(entry.decided.hash);
  }
  return run.report(reader.end, undefined);
}

class DiffRun {
  readonly a: ReplayEngine;
  readonly b: ReplayEngine;
  readonly #tallyA: Tally = new Tally();
  readonly #tallyB: Tally = new Tally();
  #onlyA: KindCounts = countKinds([]);
  #onlyB: KindCounts = countKinds([]);
  readonly #mismatches: Record<Side, number> = { a: 0, b: 0 };
  #cycleCount = 0;
  #differingCount = 0;
  #firstDifference: CycleDifference | undefined;

  constructor(a: EngineBuild, b: EngineBuild, mode: ReplayMode) {
    this.a = new ReplayEngine(a, mode);
    this.b = new ReplayEngine(b, mode);
  }

  compare(nowMs: number, offset: number): void {
    const actionsA = this.a.engine.actions();
    const actionsB = this.b.engine.actions();
    this.#cycleCount += 1;
    this.#tallyA.addCycle(this.a.engine, actionsA);
    this.#tallyB.addCycle(this.b.engine, actionsB);
    if (this.a.engine.actionHash() === this.b.engine.actionHash()) return;
    this.#differingCount += 1;
    const difference = differenceOf(actionsA, actionsB);
    this.#onlyA = addKinds(this.#onlyA, difference.onlyAByKind);
    this.#onlyB = addKinds(this.#onlyB, difference.onlyBByKind);
    this.#firstDifference ??= { cycle: this.#cycleCount, nowMs, offset, difference };
  }

  compareRecorded(hash: string): void {
    for (const side of ['a', 'b'] as const) {
      if (this[side].engine.actionHash() !== hash) this.#mismatches[side] += 1;
    }
  }

  report(end: TraceEnd | undefined, failure: DiffReport['failure']): DiffReport {
    const isSame = this.#differingCount === 0;
    return {
      outcome: failure !== undefined ? 'failed' : isSame ? 'identical' : 'different',
      end,
      cycleCount: this.#cycleCount,
      differingCount: this.#differingCount,
      firstDifference: this.#firstDifference,
      a: this.#tallyA.read(),
      b: this.#tallyB.read(),
      onlyAByKind: this.#onlyA,
      onlyBByKind: this.#onlyB,
      recordedMismatches: this.#mismatches,
      failure,
    };
  }
}

export function describeDiff(report: DiffReport): string {
  const { a, b, failure, firstDifference: first, recordedMismatches: mismatches } = report;
  return [
    `diff: ${report.outcome}; ${report.differingCount} of ${report.cycleCount} cycles differ`,
    `trace: ${describeEnd(report.end)}`,
    ...(failure === undefined
      ? []
      : [
          `${failure.kind} in ${failure.side} at ${failure.entry}, byte ${failure.offset}: ${failure.problem}`,
        ]),
    ...([1, 2, 3, 4, 5] as const).map((kind) => describeKind(report, kind)),
    compared('preemptions', a.preemptionCount, b.preemptionCount),
    compared('bound $/h', dollars(a.boundMicrosPerHour), dollars(b.boundMicrosPerHour)),
    compared('bought $/h', dollars(a.boughtMicrosPerHour), dollars(b.boughtMicrosPerHour)),
    compared('shortfalls (summed over cycles)', a.shortfallCycles, b.shortfallCycles),
    compared('shortfalls (peak)', a.peakShortfallCount, b.peakShortfallCount),
    compared('shortfalls escalated (summed)', a.escalatedCycles, b.escalatedCycles),
    compared('cycles unlike the recorded run', mismatches.a, mismatches.b),
    ...(first === undefined
      ? []
      : [
          `first difference: cycle ${first.cycle} at ${first.nowMs} ms, frame at byte ${first.offset}`,
          ...describeDifference(first.difference, 'a', 'b'),
        ]),
  ].join('\n');
}

function describeKind(
  { a, b, onlyAByKind, onlyBByKind }: DiffReport,
  kind: ActionKindCode,
): string {
  const counts = compared(actionKindName(kind), a.byKind[kind], b.byKind[kind]);
  return `${counts}; only a ${onlyAByKind[kind]}, only b ${onlyBByKind[kind]}`;
}

function compared(name: string, a: number, b: number): string {
  return `${name}: ${a} → ${b}`;
}

/** Sums may be negative, which no price is; the unit is all that is borrowed here. */
function dollars(micros: number): number {
  return dollarsFromMicrosPerHour(micros as MicrosPerHour);
}
