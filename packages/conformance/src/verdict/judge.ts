// From results to the verdict (conformance §6). Per behaviour over all its results: failed beats
// passed beats skipped; no result is `not_implemented`. A skip counts as a pass only where the
// endpoint lacks an optional capability: an endpoint that is too small or too empty to be judged,
// and a lane that produced nothing, make the verdict INCOMPLETE. Otherwise an empty provider
// would be certified.

import { type Behaviour, PROFILES, type Profile } from '../catalogue/behaviour.ts';
import { behaviours } from '../catalogue/catalogue.ts';
import { laneOf, laneOfProfile } from '../run/lane-names.ts';
import { type LaneReport, resultsOf, type SuiteRun, type TestResult } from '../run/result.ts';

export type Status = 'passed' | 'failed' | 'skipped' | 'not_implemented';
export type Verdict = 'CERTIFIED' | 'FAILED' | 'INCOMPLETE';

export interface BehaviourJudgement {
  readonly behaviour: Behaviour;
  readonly required: boolean;
  readonly status: Status;
  readonly results: readonly TestResult[];
  /** Why there is no result; set exactly when the status is `not_implemented`. */
  readonly missing?: string;
}

export interface Judgement {
  readonly verdict: Verdict;
  readonly behaviours: readonly BehaviourJudgement[];
  readonly requiredFailedCount: number;
  /** Required, and neither passed, failed nor excused by an absent capability. */
  readonly requiredMissingCount: number;
  /** The claimed profiles that hold on their own, in the order of the catalogue. */
  readonly certified: readonly Profile[];
  /** What keeps a run without failures from being certified, besides missing behaviours. */
  readonly gaps: readonly string[];
}

export function judge(run: SuiteRun): Judgement {
  const judged = behaviours.map((behaviour) => judgeBehaviour(run, behaviour));
  const baseline = judgeBaseline(run.lanes);
  const required = judged.filter((entry) => entry.required);
  const failedCount = required.filter((entry) => entry.status === 'failed').length;
  const missingCount = required.filter(isMissing).length;
  const gaps = [...baseline.gaps, ...run.lanes.flatMap(laneGap)];
  const isFailed = failedCount > 0 || baseline.failedCount > 0;
  const isIncomplete = missingCount > 0 || gaps.length > 0;
  const isBaselineClean = baseline.failedCount === 0 && baseline.gaps.length === 0;
  return {
    verdict: isFailed ? 'FAILED' : isIncomplete ? 'INCOMPLETE' : 'CERTIFIED',
    behaviours: judged,
    requiredFailedCount: failedCount,
    requiredMissingCount: missingCount,
    certified: PROFILES.filter(
      (profile) => isBaselineClean && run.profiles.includes(profile) && holds(run, judged, profile),
    ),
    gaps,
  };
}

function judgeBehaviour(run: SuiteRun, behaviour: Behaviour): BehaviourJudgement {
  const results = run.lanes
    .flatMap(resultsOf)
    .filter((result) => result.behaviourId === behaviour.id);
  const status = statusOf(results);
  return {
    behaviour,
    required: isRequired(behaviour, run.profiles),
    status,
    results,
    ...(status === 'not_implemented' ? { missing: whyMissing(run, behaviour) } : {}),
  };
}

/**
 * No behaviour names `bare-metal`, because it asserts exactly what core does. Claimed alone it
 * must not require nothing: that would certify anything.
 */
function isRequired(behaviour: Behaviour, claimed: readonly Profile[]): boolean {
  if (behaviour.deprecated === true) return false;
  const effective = claimed.map(
    (profile): Profile => (profile === 'bare-metal' ? 'core' : profile),
  );
  return behaviour.profiles.some((profile) => effective.includes(profile));
}

function statusOf(results: readonly TestResult[]): Status {
  const kinds = new Set(results.map(({ outcome }) => outcome.kind));
  if (kinds.has('failed')) return 'failed';
  if (kinds.has('passed')) return 'passed';
  return kinds.has('skipped') ? 'skipped' : 'not_implemented';
}

function isMissing({ status, results }: BehaviourJudgement): boolean {
  if (status === 'not_implemented') return true;
  return status === 'skipped' && results.some(({ outcome }) => isUnmet(outcome));
}

function isUnmet(outcome: TestResult['outcome']): boolean {
  return outcome.kind === 'skipped' && outcome.skip === 'precondition-unmet';
}

function holds(run: SuiteRun, judged: readonly BehaviourJudgement[], profile: Profile): boolean {
  const lane = laneOfProfile(profile);
  if (run.lanes.some((report) => report.lane === lane && laneGap(report).length > 0)) return false;
  return judged
    .filter(({ behaviour }) => isRequired(behaviour, [profile]))
    .every((entry) => entry.status !== 'failed' && !isMissing(entry));
}

function laneGap(report: LaneReport): string[] {
  switch (report.kind) {
    case 'broken':
      return [`${report.lane}: ${report.problem}`];
    case 'not-asked':
      return [];
    case 'ran':
      if (report.problem !== undefined) return [`${report.lane}: ${report.problem}`];
      return report.results.length === 0 ? [`${report.lane}: produced no results`] : [];
  }
}

function whyMissing(run: SuiteRun, behaviour: Behaviour): string {
  if (run.only?.has(behaviour.id) === false) return 'not selected by --only';
  const lane = laneOf(behaviour);
  for (const report of run.lanes) {
    if (report.lane !== lane) continue;
    if (report.kind === 'not-asked') return report.missing;
    if (report.problem !== undefined) return report.problem;
  }
  return 'the suite has no test for it';
}

/** The wire checks of conformance §3; the two self-test checks are no evidence on a target. */
export const BASELINE_WIRE_CHECK_COUNT = 25;

interface BaselineJudgement {
  readonly failedCount: number;
  readonly gaps: readonly string[];
}

/**
 * What the baseline adds to the verdict. It must report all of its wire checks: a baseline that
 * crashed half way, or found no machine to work with, is no evidence.
 */
function judgeBaseline(lanes: readonly LaneReport[]): BaselineJudgement {
  const reports = lanes.filter(({ lane, kind }) => lane === 'baseline' && kind !== 'not-asked');
  if (reports.length === 0) return { failedCount: 0, gaps: [] };
  const outcomes = reports.flatMap(resultsOf).map(({ outcome }) => outcome);
  const unmetCount = outcomes.filter(isUnmet).length;
  const gaps: string[] = [];
  if (outcomes.length < BASELINE_WIRE_CHECK_COUNT) {
    gaps.push(`baseline: ${outcomes.length} of ${BASELINE_WIRE_CHECK_COUNT} checks reported`);
  }
  if (unmetCount > 0) gaps.push(`baseline: ${unmetCount} checks found too few machines`);
  return { failedCount: outcomes.filter(({ kind }) => kind === 'failed').length, gaps };
}
