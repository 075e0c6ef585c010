// The text of a finished run: one line for each behaviour of the catalogue, whatever happened to
// it, then the totals of conformance §7. The last line is the verdict with the profiles that are
// certified; it never claims more than was judged.

import { AREAS } from '../catalogue/behaviour.ts';
import { type LaneReport, resultsOf, type SuiteRun, type TestResult } from '../run/result.ts';
import type { BehaviourJudgement, Judgement } from '../verdict/judge.ts';
import { countStatus, totalsOf } from './totals.ts';

export function renderConsole(run: SuiteRun, judgement: Judgement): string[] {
  return [
    ...judgement.behaviours.map(behaviourLine),
    '',
    ...baselineFindings(run),
    ...run.lanes.map(laneLine),
    behaviourTotals(judgement),
    ...areaLines(judgement),
    ...judgement.gaps.map((gap) => `gap: ${oneLine(gap)}`),
    `required failures: ${judgement.requiredFailedCount}`,
    `required missing: ${judgement.requiredMissingCount}`,
    `>> VERDICT: ${judgement.verdict} (${certifiedText(judgement)})`,
  ];
}

/** What `make conformance-self` prints per subject: unjudged behaviours count as skipped. */
export function closingLine(subject: string, judgement: Judgement): string {
  const passed = countStatus(judgement, 'passed');
  const failed = countStatus(judgement, 'failed');
  const skipped = judgement.behaviours.length - passed - failed;
  const tail = skipped === 0 ? '' : `, ${skipped} skipped`;
  return `${subject}: ${passed} passed, ${failed} failed${tail}`;
}

function certifiedText({ verdict, certified }: Judgement): string {
  const names = certified.length === 0 ? 'none' : certified.join(',');
  return verdict === 'CERTIFIED' ? names : `certified profiles: ${names}`;
}

function behaviourLine(entry: BehaviourJudgement): string {
  const { id, title } = entry.behaviour;
  const head = id.padEnd(6);
  if (entry.status === 'not_implemented') {
    return `${head} not run (${oneLine(entry.missing ?? '')})`;
  }
  return `${head} ${entry.status.padEnd(7)} ${title}${remarks(entry)}`;
}

function remarks({ results }: BehaviourJudgement): string {
  const notes = results.flatMap((result) => result.notes).map((note) => ` [${oneLine(note)}]`);
  const reasons = results.flatMap(({ outcome }) => {
    if (outcome.kind === 'failed') return [`: ${oneLine(outcome.finding)}`];
    if (outcome.kind === 'skipped') return [` (${outcome.skip}: ${oneLine(outcome.reason)})`];
    return [];
  });
  return [...notes, ...reasons].join('');
}

/** Baseline checks carry no id, so their findings have no line among the behaviours. */
function baselineFindings({ lanes }: SuiteRun): string[] {
  return lanes
    .filter(({ lane }) => lane === 'baseline')
    .flatMap(resultsOf)
    .flatMap((result) => baselineFinding(result));
}

function baselineFinding({ name, outcome }: TestResult): string[] {
  if (outcome.kind === 'failed') return [`baseline ${name} failed: ${oneLine(outcome.finding)}`];
  if (outcome.kind === 'skipped' && outcome.skip === 'precondition-unmet') {
    return [`baseline ${name} skipped (${outcome.skip}: ${oneLine(outcome.reason)})`];
  }
  return [];
}

function laneLine(report: LaneReport): string {
  const head = `${report.lane}:`.padEnd(10);
  if (report.kind === 'not-asked') return `${head} not run (${oneLine(report.missing)})`;
  if (report.kind === 'broken') return `${head} produced nothing (${oneLine(report.problem)})`;
  const { tests, passed, failed, skipped } = totalsOf(report.results);
  const totals = `${tests} tests, ${passed} passed, ${failed} failed, ${skipped} skipped`;
  return `${head} ${totals} on ${oneLine(report.judged)}`;
}

function behaviourTotals(judgement: Judgement): string {
  const parts = (['passed', 'failed', 'skipped'] as const).map(
    (status) => `${countStatus(judgement, status)} ${status}`,
  );
  const notRun = countStatus(judgement, 'not_implemented');
  return `behaviours: ${judgement.behaviours.length} total, ${parts.join(', ')}, ${notRun} not run`;
}

function areaLines({ behaviours }: Judgement): string[] {
  return AREAS.map((area) => {
    const entries = behaviours.filter(({ behaviour }) => behaviour.area === area);
    const passed = entries.filter(({ status }) => status === 'passed').length;
    return `  ${area.padEnd(18)} ${passed}/${entries.length}`;
  });
}

const unprintable = /[\p{Cc}\u2028\u2029]+/gu;

/**
 * A finding may quote what a provider sent: no line break and no escape sequence of it may reach a
 * terminal or break a line-oriented log.
 */
export function oneLine(text: string): string {
  return text.toWellFormed().replace(unprintable, ' ').trim();
}
