// Counting of test results, shared by all reports.

import type { LaneName } from '../run/lane-names.ts';
import { resultsOf, type SuiteRun, type TestResult } from '../run/result.ts';
import type { Judgement, Status } from '../verdict/judge.ts';

export interface Totals {
  readonly tests: number;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

export function totalsOf(results: readonly TestResult[]): Totals {
  const count = (kind: TestResult['outcome']['kind']): number =>
    results.filter(({ outcome }) => outcome.kind === kind).length;
  return {
    tests: results.length,
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
}

export function resultsOfLane(run: SuiteRun, lane: LaneName): readonly TestResult[] {
  return run.lanes.filter((report) => report.lane === lane).flatMap(resultsOf);
}

/** All that carries a behaviour: the lanes beside the baseline count as one (conformance §7). */
export function extensionResults(run: SuiteRun): readonly TestResult[] {
  return run.lanes.filter(({ lane }) => lane !== 'baseline').flatMap(resultsOf);
}

export function countStatus(judgement: Judgement, status: Status): number {
  return judgement.behaviours.filter((entry) => entry.status === status).length;
}
