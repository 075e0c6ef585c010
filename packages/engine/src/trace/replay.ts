// Runs a trace again and compares what every cycle decides with what was recorded. The same
// build must decide the same on any machine, in any thread, incrementally or fully; another
// build that does not is shown with the first cycle at which it departs.
//
// Replay is an open loop: the inputs are the recorded ones, whatever the engine decides.

import type { ActionHash } from './action-hash.ts';
import { type ActionDifference, describeDifference, differenceOf } from './action-difference.ts';
import type { TraceSource } from '../bytes/byte-source.ts';
import { createEngineLike, type EngineBuild, type EngineLike } from './engine-like.ts';
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
  const { build = createEngineLike, mode = 'recorded' } = options;
  const reader = new TraceReader(source);
  const run = new ReplayEngine(build, mode);
  const hashes: ActionHash[] = [];
  let nowMs = 0;
  let verifiedCount = 0;
  let differingCount = 0;
  let firstDifference: ReplayDifference | undefined;
  let failure: ReplayReport['failure'];
  for (const entry of reader) {
    const failed = run.apply(entry);
    if (failed !== undefined) {
      // What follows was decided from a state that this engine never had.
      failure = { ...failed, offset: reader.offset };
      break;
    }
    if (entry.kind === 'cycle') {
      nowMs = entry.options.nowMs;
      hashes.push(run.engine.actionHash());
    } else if (entry.kind === 'decided') {
      verifiedCount += 1;
      if (hashes.at(-1) === entry.decided.hash) continue;
      differingCount += 1;
      const place = { cycle: hashes.length, nowMs, offset: reader.offset };
      firstDifference ??= { ...place, ...comparedWith(entry.decided, run.engine) };
    }
  }
  return {
    outcome: failure !== undefined ? 'failed' : differingCount === 0 ? 'identical' : 'different',
    end: failure === undefined ? reader.end : undefined,
    cycleCount: hashes.length,
    verifiedCount,
    differingCount,
    hashes,
    firstDifference,
    failure,
  };
}

type Compared = Omit<ReplayDifference, 'cycle' | 'nowMs' | 'offset'>;

function comparedWith({ hash, actionCount, actions }: Decided, engine: EngineLike): Compared {
  const replayed = engine.actions();
  return {
    recordedHash: hash,
    replayedHash: engine.actionHash(),
    recordedCount: actionCount,
    replayedCount: replayed.length,
    difference: actions === undefined ? undefined : differenceOf(actions, replayed),
  };
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
