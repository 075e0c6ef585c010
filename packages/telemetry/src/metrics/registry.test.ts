// Proves the rules of label sets: closed sets are zero-filled and refuse strangers, open sets are
// bounded, dropped values are counted, and a removed series cannot be written to any more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { B14 } from './buckets.ts';
import { createRegistry, LABEL_OVERFLOW_TOTAL, type MetricRegistry } from './registry.ts';
import { scrapeFamilies, valuesOf } from './testing/scrape-families.ts';

const BUG = { name: 'AssertionError' };

test('closed counters and gauges are at 0 from the first scrape, in every combination', async () => {
  const registry = createRegistry();
  registry.counter({
    name: 'a_total',
    help: 'a',
    labels: { kind: ['Bootstrap', 'Delete'], outcome: ['success', 'other'] },
  });
  registry.gauge({ name: 'b', help: 'b', labels: { bucket: ['1-9', '300+'] } });
  registry.counter({ name: 'c_total', help: 'c' });
  registry.histogram({ name: 'd', help: 'd', bounds: [1] });
  const families = await scrapeFamilies(registry);
  assert.deepEqual(valuesOf(families, 'a_total'), {
    'Bootstrap,success': 0,
    'Bootstrap,other': 0,
    'Delete,success': 0,
    'Delete,other': 0,
  });
  assert.deepEqual(valuesOf(families, 'b'), { '1-9': 0, '300+': 0 });
  assert.deepEqual(valuesOf(families, 'c_total'), { '': 0 });
  assert.equal(families.get('d')?.samples.length, 4);
});

test('series of a closed family are indexed in declaration order, last label fastest', async () => {
  const registry = createRegistry();
  const family = registry.counter({
    name: 'a_total',
    help: 'a',
    labels: { kind: ['x', 'y'], outcome: ['p', 'q', 'r'] },
  });
  family.all().forEach((series, index) => {
    series.inc(index + 1);
  });
  assert.deepEqual(valuesOf(await scrapeFamilies(registry), 'a_total'), {
    'x,p': 1,
    'x,q': 2,
    'x,r': 3,
    'y,p': 4,
    'y,q': 5,
    'y,r': 6,
  });
  assert.equal(family.labels({ kind: 'y', outcome: 'p' }), family.all()[3]);
});

test('a family keeps HELP and TYPE without any sample', async () => {
  const registry = createRegistry();
  registry.gauge({ name: 'a', help: 'two\nlines \\ one', labels: { cluster: { max: 10 } } });
  const family = (await scrapeFamilies(registry)).get('a');
  assert.deepEqual(family, { name: 'a', help: 'two\nlines \\ one', type: 'gauge', samples: [] });
});

test('values that would poison a series are bugs', () => {
  const registry = createRegistry();
  const counter = registry.counter({ name: 'a_total', help: 'a' });
  const gauge = registry.gauge({ name: 'b', help: 'b' });
  const histogram = registry.histogram({ name: 'c', help: 'c', bounds: B14 });
  assert.throws(() => counter.inc(-1), BUG);
  assert.throws(() => counter.inc(Number.NaN), BUG);
  assert.throws(() => gauge.set(Number.NaN), BUG);
  assert.throws(() => gauge.add(Number.POSITIVE_INFINITY), BUG);
  assert.throws(() => histogram.observe(-0.001), BUG);
  assert.throws(() => histogram.observe(Number.NaN), BUG);
});

const badDefinitions: readonly [string, (registry: MetricRegistry) => unknown][] = [
  ['a name twice', (r) => [gauge(r, 'a'), gauge(r, 'a')]],
  ['a name twice across types', (r) => [gauge(r, 'a'), histogram(r, 'a')]],
  ['a gauge on a histogram sample', (r) => [histogram(r, 'a'), gauge(r, 'a_count')]],
  ['a histogram over a gauge', (r) => [gauge(r, 'a_sum'), histogram(r, 'a')]],
  ['a counter without _total', (r) => r.counter({ name: 'a', help: 'a' })],
  ['a gauge with _total', (r) => gauge(r, 'a_total')],
  ['no help', (r) => r.gauge({ name: 'a', help: '' })],
  ['a bad name', (r) => gauge(r, 'a-b')],
  ['a bad label name', (r) => r.gauge({ name: 'a', help: 'a', labels: { '0x': ['v'] } })],
  ['the label le', (r) => r.gauge({ name: 'a', help: 'a', labels: { le: ['v'] } })],
  ['an empty closed set', (r) => r.gauge({ name: 'a', help: 'a', labels: { x: [] } })],
  ['a value twice', (r) => r.gauge({ name: 'a', help: 'a', labels: { x: ['v', 'v'] } })],
  ['an empty value', (r) => r.gauge({ name: 'a', help: 'a', labels: { x: [''] } })],
  ['two open labels', (r) => r.gauge({ name: 'a', help: 'a', labels: { x: open, y: open } })],
  ['no bound', (r) => r.gauge({ name: 'a', help: 'a', labels: { x: { max: 0 } } })],
];

for (const [what, define] of badDefinitions) {
  test(`refused at definition: ${what}`, () => {
    assert.throws(() => define(createRegistry()), BUG);
  });
}

const open = { max: 10 };

function gauge(registry: MetricRegistry, name: string): unknown {
  return registry.gauge({ name, help: 'x' });
}

function histogram(registry: MetricRegistry, name: string): unknown {
  return registry.histogram({ name, help: 'x', bounds: [1] });
}

test('a value outside a closed set is a bug', () => {
  const kinds: readonly string[] = ['Bootstrap'];
  const family = createRegistry().counter({ name: 'a_total', help: 'a', labels: { kind: kinds } });
  assert.throws(() => family.labels({ kind: 'Bootstarp' }), BUG);
});

test('an open set is bounded: the newcomer is dropped and counted, the old ones stay', async () => {
  const registry = createRegistry();
  const family = registry.gauge({ name: 'a', help: 'a', labels: { cluster: { max: 3 } } });
  for (const cluster of ['c1', 'c2', 'c3', 'c4', 'c5', 'c1']) family.labels({ cluster }).set(7);
  family.labels({ cluster: '' }).set(7);
  family.labels({ cluster: '\ud800' }).set(7);
  family.labels({ cluster: 'x'.repeat(513) }).set(7);
  const families = await scrapeFamilies(registry);
  assert.deepEqual(valuesOf(families, 'a'), { c1: 7, c2: 7, c3: 7 });
  assert.deepEqual(valuesOf(families, LABEL_OVERFLOW_TOTAL), {
    'a,full': 2,
    'a,unrepresentable': 3,
  });
});

test('hostile names of open values are just names', async () => {
  const registry = createRegistry();
  const family = registry.counter({ name: 'a_total', help: 'a', labels: { cluster: { max: 9 } } });
  const names = ['__proto__', 'constructor', 'a"b', 'a\\b', 'a\nb', 'a,b="c"}', 'ü𝄞', 'toString'];
  names.forEach((cluster, index) => {
    family.labels({ cluster }).inc(index + 1);
  });
  const values = new Map(
    (await scrapeFamilies(registry))
      .get('a_total')
      ?.samples.map((sample) => [sample.labels.get('cluster'), sample.value]),
  );
  assert.deepEqual(
    [...values],
    names.map((name, index) => [name, index + 1]),
  );
});

test('an open value brings its whole row of closed combinations', async () => {
  const registry = createRegistry();
  const family = registry.counter({
    name: 'a_total',
    help: 'a',
    labels: { provider: { max: 2 }, mode: ['full', 'incremental'] },
  });
  family.labels({ provider: 'aws', mode: 'incremental' }).inc(4);
  assert.deepEqual(valuesOf(await scrapeFamilies(registry), 'a_total'), {
    'aws,full': 0,
    'aws,incremental': 4,
  });
});

test('a removed row is gone, its place is reused clean, and old handles write nowhere', async () => {
  const registry = createRegistry();
  const family = registry.counter({ name: 'a_total', help: 'a', labels: { cluster: { max: 1 } } });
  const old = family.labels({ cluster: 'old' });
  old.inc(5);
  assert.equal(family.remove('old'), true);
  assert.equal(family.remove('old'), false);
  assert.deepEqual(valuesOf(await scrapeFamilies(registry), 'a_total'), {});
  const fresh = family.labels({ cluster: 'new' });
  old.inc(100);
  fresh.inc(1);
  assert.deepEqual(valuesOf(await scrapeFamilies(registry), 'a_total'), { new: 1 });
  family.removeAll();
  old.inc();
  fresh.inc();
  family.labels({ cluster: 'old' });
  assert.deepEqual(valuesOf(await scrapeFamilies(registry), 'a_total'), { old: 0 });
});

test('handles survive the growth of their family', async () => {
  const registry = createRegistry();
  const family = registry.counter({ name: 'a_total', help: 'a', labels: { c: { max: 1_000 } } });
  const handles = Array.from({ length: 1_000 }, (_, at) => {
    const handle = family.labels({ c: `c${at}` });
    handle.inc(at);
    return handle;
  });
  for (const handle of handles) handle.inc(0.5);
  const values = valuesOf(await scrapeFamilies(registry), 'a_total');
  assert.equal(Object.keys(values).length, 1_000);
  for (let at = 0; at < 1_000; at++) assert.equal(values[`c${at}`], at + 0.5);
});

test('a sparse gauge publishes its initial series, then what was ever non-zero, zeros included', async () => {
  const registry = createRegistry();
  const family = registry.gauge({
    name: 'a',
    help: 'a',
    labels: { state: ['Configured', 'Idle', 'Failed'] },
    initial: ({ state }) => state === 'Configured',
  });
  const scrape = async (): Promise<object> => valuesOf(await scrapeFamilies(registry), 'a');
  assert.deepEqual(await scrape(), { Configured: 0 });
  family.labels({ state: 'Idle' }).set(3);
  family.labels({ state: 'Failed' }).set(0);
  assert.deepEqual(await scrape(), { Configured: 0, Idle: 3 });
  family.labels({ state: 'Idle' }).set(0);
  assert.deepEqual(await scrape(), { Configured: 0, Idle: 0 });
});

test('a gauge adds and subtracts', async () => {
  const registry = createRegistry();
  const inflight = registry.gauge({ name: 'a', help: 'a' });
  inflight.add(3);
  inflight.add(-1);
  assert.deepEqual(valuesOf(await scrapeFamilies(registry), 'a'), { '': 2 });
});
