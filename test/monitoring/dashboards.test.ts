// Proves of every dashboard that ships: Grafana can place it, each panel says what to do and where to
// read on, and no query of a panel or an alert asks for a series, label or value that no process has.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { definedSeries } from '../docs/observability/processes.ts';
import type { DefinedMetric } from '../docs/observability/recording-registry.ts';
import { checkRules, createTempDir } from '../toolkit/index.ts';
import { DASHBOARDS, type GridPos, type Panel, queriesOf, resolved } from './dashboards.ts';
import { ALERTS } from './rule-files.ts';
import { type Selector, selectorsOf } from './selectors.ts';

const ANY = { job: '.+', instance: '.+', rateInterval: '1m' };
const QUERIES = [
  ...DASHBOARDS.flatMap(queriesOf).map(({ at, expr }) => ({ at, expr: resolved(expr, ANY) })),
  ...ALERTS.map(({ alert, expr }) => ({ at: alert, expr })),
];

const panelsOf = (panels: readonly Panel[]): readonly Panel[] =>
  panels.filter(({ type }) => type !== 'row');

test('every dashboard is one that Grafana 12 reads, with the variables of the specification', () => {
  assert.deepEqual(DASHBOARDS.map(({ file }) => file.replace('.json', '')).sort(), [
    'coordinator',
    'finops',
    'operator',
    'overview',
    'planning',
    'provider',
    'shard',
  ]);
  for (const { file, uid, title, schemaVersion, templating } of DASHBOARDS) {
    assert.equal(uid, `bigfleet-${file.replace('.json', '')}`);
    assert.match(title, /^BigFleet \/ /);
    assert.equal(schemaVersion, 41);
    const variables = templating.list.map(({ name, type }) => `${name}:${type}`);
    assert.deepEqual(variables, [
      'datasource:datasource',
      'job:query',
      'instance:query',
      'docs:constant',
    ]);
  }
});

test('they are what their sources say, as make check would find', () => {
  const main = path.join(import.meta.dirname, '../../tools/grafana/generate.ts');
  const { status, stdout } = spawnSync(process.execPath, [main, '--check'], { encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});

test('no dashboard names a data source of one Grafana', () => {
  const uidsIn = (value: unknown): readonly unknown[] => {
    if (typeof value !== 'object' || value === null) return [];
    const own = 'datasource' in value ? [value.datasource] : [];
    return [...own, ...Object.values(value).flatMap(uidsIn)];
  };
  for (const dashboard of DASHBOARDS) {
    const uids = uidsIn(dashboard);
    assert.ok(uids.length > 3);
    for (const uid of uids) assert.deepEqual(uid, { type: 'prometheus', uid: '${datasource}' });
  }
});

test('panels have ids of their own and do not overlap', () => {
  const overlap = (a: GridPos, b: GridPos): boolean =>
    a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
  for (const { file, panels } of DASHBOARDS) {
    assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length, file);
    for (const [at, { title, gridPos }] of panels.entries()) {
      assert.ok(gridPos.x >= 0 && gridPos.x + gridPos.w <= 24, `${file}: ${title}`);
      const other = panels.slice(at + 1).find((each) => overlap(gridPos, each.gridPos));
      assert.equal(other, undefined, `${file}: ${title} and ${other?.title}`);
    }
  }
});

test('every panel has a unit, says what to do, and links to sections of the runbook', () => {
  const sections = new Set(ALERTS.map(({ alert }) => alert));
  for (const { file, panels } of DASHBOARDS) {
    for (const { title, description = '', fieldConfig, links = [], targets = [] } of panelsOf(
      panels,
    )) {
      const at = `${file}: ${title}`;
      assert.ok(description.length > 25, at);
      assert.ok(fieldConfig?.defaults.unit !== undefined, at);
      assert.ok(targets.length > 0, at);
      for (const link of links) {
        const alert = link.title.replace('Runbook: ', '');
        assert.ok(sections.has(alert), `${at}: ${link.title}`);
        assert.equal(link.url, `\${docs}operator-guide.md#${alert.toLowerCase()}`);
      }
    }
  }
});

test('every alert but that of certificates is linked from a panel', () => {
  const linked = DASHBOARDS.flatMap(({ panels }) => panels)
    .flatMap(({ links = [] }) => links)
    .map(({ title }) => title.replace('Runbook: ', ''));
  const missing = ALERTS.map(({ alert }) => alert).filter((alert) => !linked.includes(alert));
  assert.deepEqual(missing, ['CertificateExpires']);
});

test('promtool reads every query', async () => {
  await using dir = createTempDir('queries');
  const file = path.join(dir.path, 'queries.yml');
  const rules = QUERIES.map(({ expr }, at) => ({ record: `query:${at}`, expr }));
  writeFileSync(file, JSON.stringify({ groups: [{ name: 'queries', rules }] }));
  const { ok, output } = await checkRules([file]);
  assert.ok(ok, output);
});

test('no query asks for a series, label or value that no process has', async () => {
  const processes = await definedSeries();
  const catalogue = processes.flatMap(({ series }) => series);
  assert.ok(QUERIES.length > 120, `only ${QUERIES.length} queries`);
  for (const { at, expr } of QUERIES) {
    for (const selector of selectorsOf(expr)) {
      assert.equal(problemOf(selector, catalogue), undefined, `${at}: ${expr}`);
    }
  }
  for (const wrong of [
    'bigfleet_shard_short_falls > 0',
    'bigfleet_shard_shortfalls{shard="x"}',
    'bigfleet_shard_inventory_machines{state="configured"}',
    'rate(bigfleet_shard_actions_total{kind=~"Preempt|Evict"}[5m])',
    'sum({__name__=~"bigfleet_[a-z0-9_]+_panic_total"})',
  ]) {
    const [selector] = selectorsOf(wrong);
    assert.ok(selector !== undefined && problemOf(selector, catalogue) !== undefined, wrong);
  }
});

const SCRAPE_LABELS = new Set(['job', 'instance', 'le']);

/** What is wrong with a selector: a name, label or value that the catalogue does not have. */
function problemOf(
  { name, labels }: Selector,
  catalogue: readonly DefinedMetric[],
): string | undefined {
  const isWanted = (metric: DefinedMetric): boolean => {
    const names = metric.type === 'histogram' ? [`${metric.name}_bucket`] : [metric.name];
    return names.some((each) =>
      'exact' in name ? each === name.exact : new RegExp(`^(?:${name.pattern})$`).test(each),
    );
  };
  const wanted = catalogue.filter(isWanted);
  if (wanted.length === 0) return `no series ${JSON.stringify(name)}`;
  for (const { label, isPattern, value } of labels) {
    if (SCRAPE_LABELS.has(label)) continue;
    const declared = wanted.map(({ labels: own }) => own[label]).find((each) => each !== undefined);
    if (declared === undefined) return `no label ${label}`;
    if ('max' in declared) continue;
    const values = isPattern ? value.replaceAll('[+]', '+').split('|') : [value];
    const unknown = values.find((each) => !declared.includes(each));
    if (unknown !== undefined) return `no value ${unknown} of ${label}`;
  }
  return undefined;
}
