// Proves of every alert that ships, with Prometheus's own promtool: it fires after its `for` with the
// text that the reader gets, stays silent just below its threshold and without its series, and has a
// section of its name in the runbook. And that the cases can fail: each rule broken in turn is caught.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { checkRules, createTempDir, testRules } from '../toolkit/index.ts';
import type { AlertCase } from './alert-case.ts';
import { COORDINATOR_CASES } from './cases/coordinator.ts';
import { OPERATOR_CASES, PROCESS_CASES, PROVIDER_CASES } from './cases/others.ts';
import { SHARD_CASES } from './cases/shard.ts';
import { type Absence, writePromtoolTest } from './promtool-tests.ts';
import { type Alert, ALERTS, RULE_OBJECTS, writeRuleFiles } from './rule-files.ts';

const CASES = [
  ...SHARD_CASES,
  ...COORDINATOR_CASES,
  ...OPERATOR_CASES,
  ...PROVIDER_CASES,
  ...PROCESS_CASES,
];

/** Intended: who scrapes neither shard nor coordinator has lost both, or does not load their rules. */
const ABSENT: Absence = {
  ShardDown: [
    {
      severity: 'page',
      labels: { job: 'bigfleet-shard' },
      summary: 'Shard processes do not answer',
    },
  ],
  CoordinatorNoLeader: [{ severity: 'page', labels: {}, summary: 'No coordinator leads' }],
};

const names = [...new Set(ALERTS.map(({ alert }) => alert))].sort();

test('promtool accepts every rule', async () => {
  await using dir = createTempDir('rules');
  const { ok, output } = await checkRules(writeRuleFiles(dir.path));
  assert.ok(ok, output);
});

test('every object is a PrometheusRule of its own name, and every alert has a case', () => {
  for (const { kind, name, objectName } of RULE_OBJECTS) {
    assert.deepEqual([kind, objectName], ['PrometheusRule', `bigfleet-${name}`]);
  }
  assert.deepEqual([...new Set(CASES.map(({ alert }) => alert))].sort(), names);
  // Of an alert with two severities both fire in some case.
  const key = (alert: string, severity: string | undefined): string => `${alert} ${severity}`;
  const fired = new Set(
    CASES.flatMap(({ alert, fires }) => fires.map(({ severity }) => key(alert, severity))),
  );
  const shipped = ALERTS.map(({ alert, labels }) => key(alert, labels['severity']));
  assert.deepEqual([...fired].sort(), shipped.sort());
});

test('promtool: each alert fires when it should, and only then', async () => {
  await using dir = createTempDir('rules');
  const { ok, output } = await testRules(promtoolTests(dir.path));
  assert.ok(ok, output);
});

test('promtool: a rule that fires never, too early or always is caught', async (t) => {
  // One world is enough to see each of them: promtool takes its time.
  const firing = (cases: readonly AlertCase[]): readonly AlertCase[] =>
    cases.slice(0, 1).map((each) => ({ ...each, silent: {} }));
  const mutants: Readonly<Record<string, Mutant>> = {
    'without its "for", or never': {
      mutate: (alert) =>
        alert.for === undefined ? { ...alert, expr: 'vector(0) > 1' } : { ...alert, for: '0s' },
      choose: firing,
    },
    always: {
      mutate: (alert) => ({ ...alert, expr: `(${alert.expr}) or vector(1)` }),
      // Without any series is enough, except for the alerts that fire then.
      choose: (cases) => cases.filter(({ alert }) => ABSENT[alert] !== undefined),
    },
  };
  for (const [what, mutant] of Object.entries(mutants)) {
    await t.test(what, async () => {
      await using dir = createTempDir('rules');
      const { output } = await testRules(promtoolTests(dir.path, mutant));
      assert.deepEqual(failedIn(output), names, output);
    });
  }
});

test('the runbook has a section for every alert, and no section for none', () => {
  const guide = readFileSync(
    path.join(import.meta.dirname, '../../docs/operator-guide.md'),
    'utf8',
  );
  const runbook = guide.split('\n## Runbook\n')[1]?.split('\n## ')[0] ?? '';
  const sections = [...runbook.matchAll(/^### (\S+)$/gm)].map(([, name = '']) => name);
  assert.deepEqual(sections.sort(), names);
});

test('every alert says what it means, what to do first, and where its section is', () => {
  for (const { alert, labels, annotations } of ALERTS) {
    assert.match(labels['severity'] ?? '', /^(?:page|ticket|warn|info)$/, alert);
    const { summary = '', description = '', action = '', runbook_url, ...others } = annotations;
    for (const text of [summary, description, action]) assert.ok(text.length > 15, alert);
    assert.equal(runbook_url, `docs/operator-guide.md#${alert.toLowerCase()}`);
    assert.deepEqual(others, {}, alert);
  }
});

interface Mutant {
  readonly mutate: (alert: Alert) => Alert;
  readonly choose: (cases: readonly AlertCase[]) => readonly AlertCase[];
}

const AS_SHIPPED: Mutant = { mutate: (alert) => alert, choose: (cases) => cases };

/** A test file per alert, its rules as they ship or changed; one without any series is in each. */
function promtoolTests(dir: string, { mutate, choose }: Mutant = AS_SHIPPED): readonly string[] {
  return names.map((name) => {
    const shipped = ALERTS.filter(({ alert }) => alert === name);
    return writePromtoolTest(dir, name, {
      shipped,
      rules: shipped.map(mutate),
      cases: choose(CASES.filter(({ alert }) => alert === name)),
      absent: ABSENT[name] ?? [],
    });
  });
}

/** promtool prints each file and SUCCESS behind those that pass; the failures follow at the end. */
function failedIn(output: string): readonly string[] {
  const passed = [...output.matchAll(/(\w+)\.test\.yml\s+SUCCESS/g)].map(([, name]) => name);
  return names.filter((name) => !passed.includes(name));
}
