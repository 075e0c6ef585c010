// Runs a trace again and compares what every cycle decides with what was recorded. The same
// build must decide the same on any machine, in any thread, incrementally or fully; another
// build that does not is shown with the first cycle at which it departs.
//
// Replay is an open loop: the inputs are the recorded ones, whatever the engine decides.

import type { ActionHash } from './action-hash.ts';
import { type ActionDifference, describeDifference, differenceOf } from './action-difference.ts';
import type { TraceSource } from '../bytes/byte-source.ts';
import { createEngineLike, type EngineBuild } from './engine-like.ts';
import { type Decided, describeEnd, type TraceEnd } from './entry.ts';
import { type EngineFailure, ReplayEngine, type ReplayMode } from './replay-engine.ts';
import { TraceReader } from './trace-reader.ts';

export interface ReplayOptions {
  /** As recorded, by default. */
  readonly mode?: ReplayMode;
  /** This build, by default. */
  readonly build?: EngineBuild;
}

export interface ReplayReport {
  /** `failed`: the engine could not take an input; nothing behind it was run. */
  readonly outcome: 'identical' | 'different' | 'failed';
  /** Undefined after a failure: the trace was not read to its end. */
  readonly end: TraceEnd | undefined;
  readonly cycleCount: number;
  /** Cycles that the trace says the decision of: all but at most the last. */
  readonly verifiedCount: number;
  readonly differingCount: number;
  /** What each cycle of the replay decided. */
  readonly hashes: readonly ActionHash[];
  readonly firstDifference: ReplayDifference | undefined;
  readonly failure: (EngineFailure & { readonly offset: number }) | undefined;
}

export interface ReplayDifference {
  /** From 1. */
  readonly cycle: number;
  readonly nowMs: number;
  /** Of the frame that holds the recorded decision. */
  readonly offset: number;
  readonly recordedHash: ActionHash;
  readonly replayedHash: ActionHash;
  readonly recordedCount: number;
  readonly replayedCount: number;
  /** A is recorded, B replayed. Undefined when the trace holds only the hash. */
  readonly difference: ActionDifference | undefined;
}

export function replay(source: TraceSource, options: ReplayOptions = {}): ReplayReport {
  const reader = new TraceReader(source);
  const run = new ReplayRun(options.build ?? createEngineLike, options.mode ?? 'recorded');
  for (const entry of reader) {
    const failure = run.engine.apply(entry);
    if (failure !== undefined) {
      // What follows was decided from a state that this engine never had.
      return run.report(undefined, { ...failure, offset: reader.offset });
    }
    if (entry.kind === 'cycle') run.cycled(entry.options.nowMs);
    else if (entry.kind === 'decided') run.compare(entry.decided, reader.offset);
  }
  return run.report(reader.end, undefined);
}

class ReplayRun {
  readonly engine: ReplayEngine;
  readonly #hashes: ActionHash[] = [];
  #nowMs = 0;
  #verifiedCount = 0;
  #differingCount = 0;
  #firstDifference: ReplayDifference | undefined;

  constructor(build: EngineBuild, mode: ReplayMode) {
    this.engine = new ReplayEngine(build, mode);
  }

  cycled(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#hashes.push(this.engine.engine.actionHash());
  }

  compare(decided: Decided, offset: number): void {
    const replayedHash = this.#hashes.at(-1) as ActionHash;
    this.#verifiedCount += 1;
    if (replayedHash === decided.hash) return;
    this.#differingCount += 1;
    if (this.#firstDifference !== undefined) return;
    const actions = this.engine.engine.actions();
    this.#firstDifference = {
      cycle: this.#hashes.length,
      nowMs: this.#nowMs,
      offset,
      recordedHash: decided.hash,
      replayedHash,
      recordedCount: decided.actionCount,
      replayedCount: actions.length,
      difference:
        decided.actions === undefined ? undefined : differenceOf(decided.actions, actions),
    };
  }

  report(end: TraceEnd | undefined, failure: ReplayReport['failure']): ReplayReport {
    const isSame = this.#differingCount === 0;
    return {
      outcome: failure !== undefined ? 'failed' : isSame ? 'identical' : 'different',
      end,
      cycleCount: this.#hashes.length,
      verifiedCount: this.#verifiedCount,
      differingCount: this.#differingCount,
      hashes: this.#hashes,
      firstDifference: this.#firstDifference,
      failure,
    };
  }
}

export function describeReplay(report: ReplayReport): string {
  const { cycleCount, verifiedCount, differingCount, firstDifference, failure, end } = report;
  return [
    `replay: ${report.outcome}; ${cycleCount} cycles, ${verifiedCount} verified, ${differingCount} differ`,
    `trace: ${describeEnd(end)}`,
    ...(failure === undefined
      ? []
      : [
          `${failure.kind} at ${failure.entry}, frame at byte ${failure.offset}: ${failure.problem}`,
        ]),
    ...(firstDifference === undefined ? [] : describeFirst(firstDifference)),
  ].join('\n');
}

function describeFirst(first: ReplayDifference): string[] {
  return [
    `first difference: cycle ${first.cycle} at ${first.nowMs} ms, frame at byte ${first.offset}`,
    `  recorded ${first.recordedCount} actions, ${first.recordedHash}`,
    `  replayed ${first.replayedCount} actions, ${first.replayedHash}`,
    ...(first.difference === undefined
      ? ['  the trace holds only the hash of the recorded actions']
      : describeDifference(first.difference, 'recorded', 'replayed')),
  ];
}
