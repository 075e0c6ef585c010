// junit.xml (conformance §7). Findings may quote what a provider sent, NUL bytes included, so
// everything is escaped and what XML 1.0 cannot carry is shown as U+FFFD.

import { markerOf } from '../catalogue/catalogue.ts';
import { type LaneReport, resultsOf, type SuiteRun, type TestResult } from '../run/result.ts';
import { type Totals, totalsOf } from './totals.ts';

interface Suite {
  readonly name: string;
  readonly reports: readonly LaneReport[];
}

export function renderJunit(run: SuiteRun): string {
  const baseline = run.lanes.filter(({ lane, kind }) => lane === 'baseline' && kind === 'ran');
  const suites: Suite[] = [
    ...(baseline.length > 0 ? [{ name: 'upstream-baseline', reports: baseline }] : []),
    { name: 'extension', reports: run.lanes.filter(({ lane }) => lane !== 'baseline') },
  ];
  const all = totalsOf(suites.flatMap(({ reports }) => reports.flatMap(resultsOf)));
  const name = escapeXml(`bigfleet-conformance:${run.provider}`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${name}" ${counts(all)}>`,
    ...suites.flatMap(renderSuite),
    '</testsuites>',
    '',
  ].join('\n');
}

function renderSuite({ name, reports }: Suite): string[] {
  const totals = totalsOf(reports.flatMap(resultsOf));
  const cases = reports.flatMap((report) =>
    resultsOf(report).flatMap((result) => renderCase(result, report.lane)),
  );
  return [`  <testsuite name="${name}" ${counts(totals)}>`, ...cases, '  </testsuite>'];
}

function counts({ tests, failed, skipped }: Totals): string {
  return `tests="${tests}" failures="${failed}" skipped="${skipped}"`;
}

function renderCase(result: TestResult, classname: string): string[] {
  const { outcome } = result;
  const seconds = (result.durationMs / 1000).toFixed(3);
  const head = `<testcase name="${escapeXml(result.name)}" classname="${classname}" time="${seconds}">`;
  const output = escapeXml(outputOf(result));
  const body: string[] = [];
  if (outcome.kind === 'failed') {
    body.push(`<failure message="${escapeXml(outcome.finding)}">${output}</failure>`);
  } else {
    if (outcome.kind === 'skipped') {
      body.push(`<skipped message="${escapeXml(`${outcome.skip}: ${outcome.reason}`)}"/>`);
    }
    if (output !== '') body.push(`<system-out>${output}</system-out>`);
  }
  return [`    ${head}`, ...body.map((line) => `      ${line}`), '    </testcase>'];
}

/** The marker first: it binds the case to its behaviour for whoever reads the file. */
function outputOf({ behaviourId, notes, outcome }: TestResult): string {
  const marker = behaviourId === undefined ? [] : [markerOf(behaviourId)];
  const detail = outcome.kind === 'failed' ? [outcome.detail] : [];
  return [...marker, ...notes, ...detail].join('\n');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escapeXml(text: string): string {
  return text
    .replace(/[^\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu, '\uFFFD')
    .replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
