// What the baseline adds to the verdict. It must report all of its wire checks: a baseline that
// crashed half way, or found no machine to work with, is no evidence.

import { type LaneReport, resultsOf } from '../run/result.ts';

/** The wire checks of conformance §3; the two self-test checks are no evidence on a target. */
export const BASELINE_WIRE_CHECK_COUNT = 25;

export interface BaselineJudgement {
  readonly failedCount: number;
  readonly gaps: readonly string[];
}

export function judgeBaseline(lanes: readonly LaneReport[]): BaselineJudgement {
  const reports = lanes.filter(({ lane, kind }) => lane === 'baseline' && kind !== 'not-asked');
  if (reports.length === 0) return { failedCount: 0, gaps: [] };
  const outcomes = reports.flatMap(resultsOf).map(({ outcome }) => outcome);
  const unmetCount = outcomes.filter(
    (outcome) => outcome.kind === 'skipped' && outcome.skip === 'precondition-unmet',
  ).length;
  const gaps: string[] = [];
  if (outcomes.length < BASELINE_WIRE_CHECK_COUNT) {
    gaps.push(`baseline: ${outcomes.length} of ${BASELINE_WIRE_CHECK_COUNT} checks reported`);
  }
  if (unmetCount > 0) gaps.push(`baseline: ${unmetCount} checks found too few machines`);
  return { failedCount: outcomes.filter(({ kind }) => kind === 'failed').length, gaps };
}
