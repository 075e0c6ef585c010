// Cases of alerts as the unit tests that promtool runs: of each case its world, and a world per reason
// for silence; and one world without any series, in which only alerts about absence fire. Each alert is
// tested alone: promtool evaluates every rule of a file at every instant of every test.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { AlertCase, Firing, World } from './alert-case.ts';
import type { Alert } from './rule-files.ts';

interface AlertTest {
  readonly eval_time: string;
  readonly alertname: string;
  readonly exp_alerts: readonly ExpectedAlert[];
}

interface ExpectedAlert {
  readonly exp_labels: Readonly<Record<string, string>>;
  readonly exp_annotations: Readonly<Record<string, string>>;
}

interface PromtoolTest {
  readonly name: string;
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test: readonly AlertTest[];
}

const EVALUATION = '30s';
/** Later than every `for`, and within every world that is not made of hours. */
const LONG_AFTER = '75m';

/** What fires without any series. */
export type Absence = Readonly<Record<string, readonly Firing[]>>;

export interface PromtoolSources {
  /** Of one alert: with two severities there are two. What is expected is read from them. */
  readonly shipped: readonly Alert[];
  /** What is tested: the same, or changed to see the tests fail. */
  readonly rules: readonly Alert[];
  readonly cases: readonly AlertCase[];
  readonly absent: readonly Firing[];
}

/** A rule file with this alert alone and its tests; returns the file of the tests. */
export function writePromtoolTest(dir: string, name: string, sources: PromtoolSources): string {
  const { shipped, rules, cases, absent } = sources;
  const ruleFile = path.join(dir, `${name}.yml`);
  writeFileSync(ruleFile, JSON.stringify({ groups: [{ name, rules }] }));
  const testFile = path.join(dir, `${name}.test.yml`);
  const document = {
    rule_files: [ruleFile],
    evaluation_interval: cases[0]?.evaluation ?? EVALUATION,
    tests: [...cases.flatMap((each) => testsOf(each, shipped)), absenceOf(name, absent, shipped)],
  };
  writeFileSync(testFile, JSON.stringify(document));
  return testFile;
}

function testsOf(alertCase: AlertCase, alerts: readonly Alert[]): readonly PromtoolTest[] {
  const { alert, world, silentUntil, firesAt, fires, silent, evaluation } = alertCase;
  const at = (eval_time: string, firing: readonly Firing[]): AlertTest => ({
    eval_time,
    alertname: alert,
    exp_alerts: firing.map((each) => expected(alert, each, alerts)),
  });
  const test = (
    name: string,
    series: World,
    alert_rule_test: readonly AlertTest[],
  ): PromtoolTest => ({
    name: `${alert}: ${name}`,
    interval: alertCase.interval ?? '1m',
    input_series: Object.entries(series).map(([key, values]) => ({ series: key, values })),
    alert_rule_test,
  });
  const later = evaluation === undefined ? [at(LONG_AFTER, [])] : [];
  return [
    test('fires', world, [at(silentUntil, []), at(firesAt, fires)]),
    ...Object.entries(silent).map(([reason, series]) =>
      test(reason, series, [at(firesAt, []), ...later]),
    ),
  ];
}

function absenceOf(
  alertname: string,
  absent: readonly Firing[],
  alerts: readonly Alert[],
): PromtoolTest {
  const exp_alerts = absent.map((each) => expected(alertname, each, alerts));
  return {
    name: `${alertname}: without any series`,
    interval: '1m',
    input_series: [],
    alert_rule_test: [{ eval_time: LONG_AFTER, alertname, exp_alerts }],
  };
}

/** Labels and annotations as Prometheus sends them; the summary is the case's own. */
function expected(name: string, firing: Firing, alerts: readonly Alert[]): ExpectedAlert {
  const { severity, labels, summary } = firing;
  const alert = alerts.find((each) => each.alert === name && each.labels['severity'] === severity);
  if (alert === undefined) throw new Error(`no alert ${name} with severity ${severity}`);
  const annotations = Object.entries(alert.annotations).map(([key, text]) => [
    key,
    key === 'summary' ? summary : withLabels(text, labels),
  ]);
  return {
    exp_labels: { ...alert.labels, ...labels },
    exp_annotations: Object.fromEntries(annotations) as Record<string, string>,
  };
}

function withLabels(text: string, labels: Firing['labels']): string {
  return text.replaceAll(
    /\{\{ \$labels\.([a-z_]+) \}\}/g,
    (_, label: string) => labels[label] ?? '',
  );
}
