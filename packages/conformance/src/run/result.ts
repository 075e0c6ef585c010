// What a run leaves behind, as plain values: one result per test, one report per lane, and what
// was claimed. Verdict and reports are functions of this and of nothing else, so a report can be
// judged again without the endpoint.

import type { Profile } from '../catalogue/behaviour.ts';
import type { SkipKind } from '../harness/check.ts';
import type { LaneName } from './lane-names.ts';

export type Outcome =
  | { readonly kind: 'passed' }
  /** `finding` is the first meaningful line; `detail` all that is known. */
  | { readonly kind: 'failed'; readonly finding: string; readonly detail: string }
  | { readonly kind: 'skipped'; readonly skip: SkipKind; readonly reason: string };

export interface TestResult {
  /** As in junit.xml: `TestB101_Lifecycle`, `TestFullLifecycle`. */
  readonly name: string;
  /** Absent in the baseline, whose checks carry no id. */
  readonly behaviourId?: string | undefined;
  readonly outcome: Outcome;
  readonly durationMs: number;
  /** E.g. `strict`, `lenient`, machines/s. */
  readonly notes: readonly string[];
}

export type LaneReport =
  | {
      readonly kind: 'ran';
      readonly lane: LaneName;
      /** The endpoint that was judged, in words. */
      readonly judged: string;
      readonly results: readonly TestResult[];
      /** Set when it ended before its last check, or could not do all that it should. */
      readonly problem?: string;
    }
  /** Nobody asked for it; `missing` says what would have made it run. */
  | { readonly kind: 'not-asked'; readonly lane: LaneName; readonly missing: string }
  /** It should have run and produced nothing: never clean. */
  | { readonly kind: 'broken'; readonly lane: LaneName; readonly problem: string };

export interface SuiteRun {
  /** Name of the provider, for reports. */
  readonly provider: string;
  readonly profiles: readonly Profile[];
  readonly seed: string;
  readonly startedUnixMs: number;
  readonly durationMs: number;
  /** A lane may appear twice: scale runs in memory and with state. */
  readonly lanes: readonly LaneReport[];
  /** The ids of `--only`; absent: all. */
  readonly only?: ReadonlySet<string>;
}

export function resultsOf(report: LaneReport): readonly TestResult[] {
  return report.kind === 'ran' ? report.results : [];
}

/** What a run tells while it goes on. Progress only: the results are in the SuiteRun. */
export interface LaneStart {
  readonly lane: LaneName;
  readonly judged: string;
  readonly checkCount: number;
}

export interface RunObserver {
  laneStarted(start: LaneStart): void;
  checkStarted(lane: LaneName, name: string): void;
  checkEnded(lane: LaneName, result: TestResult): void;
}
