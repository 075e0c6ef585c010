// report.json (conformance §7). The keys of the specification come first and in its order; ours
// follow: which endpoint each lane judged, seed, notes (`strict`, `lenient`), and why a behaviour
// was skipped or is missing.

import type { Profile } from '../catalogue/behaviour.ts';
import { type LaneReport, resultsOf, type SuiteRun, type TestResult } from '../run/result.ts';
import type { BehaviourJudgement, Judgement, Status, Verdict } from '../verdict/judge.ts';
import { countStatus, extensionResults, resultsOfLane, type Totals, totalsOf } from './totals.ts';

export interface JsonBehaviour {
  readonly id: string;
  readonly area: string;
  readonly title: string;
  readonly profiles: readonly Profile[];
  readonly phase: number;
  readonly required: boolean;
  readonly status: Status;
  readonly tests: readonly string[];
  readonly notes?: readonly string[];
  readonly findings?: readonly string[];
  readonly skips?: readonly { readonly kind: string; readonly reason: string }[];
  readonly missing?: string;
}

export interface JsonLane extends Totals {
  readonly lane: string;
  /** The endpoint, in words; empty when the lane did not run. */
  readonly judged: string;
  readonly missing?: string;
  readonly problem?: string;
}

export interface JsonReport {
  readonly provider: string;
  readonly profiles: readonly Profile[];
  readonly timestamp: string;
  readonly baseline: Totals;
  readonly extension: Totals;
  readonly behaviors: readonly JsonBehaviour[];
  readonly summary: {
    readonly total_behaviors: number;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly not_implemented: number;
    readonly required_failed: number;
    readonly required_missing: number;
  };
  readonly verdict: Verdict;
  readonly certified_profiles: readonly Profile[];
  readonly seed: string;
  readonly lanes: readonly JsonLane[];
  readonly gaps: readonly string[];
}

export function jsonReport(run: SuiteRun, judgement: Judgement): JsonReport {
  return {
    provider: run.provider,
    profiles: run.profiles,
    timestamp: timestampOf(run.startedUnixMs),
    baseline: totalsOf(resultsOfLane(run, 'baseline')),
    extension: totalsOf(extensionResults(run)),
    behaviors: judgement.behaviours.map(behaviourEntry),
    summary: {
      total_behaviors: judgement.behaviours.length,
      passed: countStatus(judgement, 'passed'),
      failed: countStatus(judgement, 'failed'),
      skipped: countStatus(judgement, 'skipped'),
      not_implemented: countStatus(judgement, 'not_implemented'),
      required_failed: judgement.requiredFailedCount,
      required_missing: judgement.requiredMissingCount,
    },
    verdict: judgement.verdict,
    certified_profiles: judgement.certified,
    seed: run.seed,
    lanes: run.lanes.map(laneEntry),
    gaps: judgement.gaps,
  };
}

export function renderJson(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/** RFC 3339, UTC, whole seconds. */
function timestampOf(unixMs: number): string {
  return new Date(unixMs).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

function behaviourEntry(entry: BehaviourJudgement): JsonBehaviour {
  const { id, area, title, profiles, phase } = entry.behaviour;
  const notes = entry.results.flatMap((result) => result.notes);
  const findings = entry.results.flatMap(findingOf);
  const skips = entry.results.flatMap(skipOf);
  return {
    id,
    area,
    title,
    profiles,
    phase,
    required: entry.required,
    status: entry.status,
    tests: entry.results.map(({ name }) => name),
    ...(notes.length > 0 ? { notes } : {}),
    ...(findings.length > 0 ? { findings } : {}),
    ...(skips.length > 0 ? { skips } : {}),
    ...(entry.missing === undefined ? {} : { missing: entry.missing }),
  };
}

function findingOf({ outcome }: TestResult): string[] {
  return outcome.kind === 'failed' ? [outcome.finding] : [];
}

function skipOf({ outcome }: TestResult): { kind: string; reason: string }[] {
  return outcome.kind === 'skipped' ? [{ kind: outcome.skip, reason: outcome.reason }] : [];
}

function laneEntry(report: LaneReport): JsonLane {
  const judged = report.kind === 'ran' ? report.judged : '';
  const entry = { lane: report.lane, judged, ...totalsOf(resultsOf(report)) };
  if (report.kind === 'not-asked') return { ...entry, missing: report.missing };
  return report.problem === undefined ? entry : { ...entry, problem: report.problem };
}
