// Proves that a scrape is one consistent, parseable picture: taken at one instant, written with
// yields, shared by concurrent scrapers, equal to what was counted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createVirtualRuntime, type Timers } from '@bigfleet/base';
import { drainMicrotasks, realRuntime } from '@bigfleet/base/real';
import fc from 'fast-check';
import { B14, B20cs } from './buckets.ts';
import { isRepresentable } from './labels.ts';
import { createRegistry, type MetricRegistry } from './registry.ts';
import { createScraper } from './scrape.ts';
import { parseFamilies, scrapeFamilies, valuesOf } from './testing/scrape-families.ts';

test('a histogram is exactly what was observed, cumulative, with canonical bounds', async () => {
  const registry = createRegistry();
  const histogram = registry.histogram({
    name: 'bigfleet_shard_cycle_duration_seconds',
    help: 'Cycle.',
    bounds: B14,
  });
  const observed = [0, 0.001, 0.0011, 8.192, 9, 100];
  for (const seconds of observed) histogram.observe(seconds);
  const text = await textOf(registry);
  const lines = text.split('\n');
  assert.ok(lines.includes('bigfleet_shard_cycle_duration_seconds_bucket{le="0.001"} 2'));
  assert.ok(lines.includes('bigfleet_shard_cycle_duration_seconds_bucket{le="0.002"} 3'));
  assert.ok(lines.includes('bigfleet_shard_cycle_duration_seconds_bucket{le="4.096"} 3'));
  assert.ok(lines.includes('bigfleet_shard_cycle_duration_seconds_bucket{le="8.192"} 4'));
  assert.ok(lines.includes('bigfleet_shard_cycle_duration_seconds_bucket{le="+Inf"} 6'));
  assert.ok(lines.includes('bigfleet_shard_cycle_duration_seconds_count 6'));
  const sum = observed.reduce((a, b) => a + b, 0);
  assert.ok(lines.includes(`bigfleet_shard_cycle_duration_seconds_sum ${sum}`));
});

test('observations and label values survive the text, whatever they are', async () => {
  const cluster = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
  const seconds = fc.array(fc.double({ min: 0, max: 6_000, noNaN: true }), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(fc.dictionary(cluster, seconds, { maxKeys: 8 }), async (observed) => {
      const registry = createRegistry();
      const family = registry.histogram({
        name: 'a_seconds',
        help: 'a',
        bounds: B20cs,
        labels: { cluster: { max: 10 } },
      });
      for (const [name, values] of Object.entries(observed)) {
        const series = family.labels({ cluster: name });
        for (const value of values) series.observe(value);
      }
      const samples = (await scrapeFamilies(registry)).get('a_seconds')?.samples ?? [];
      for (const sample of samples.filter(({ name }) => name === 'a_seconds_bucket')) {
        const le = Number((sample.labels.get('le') ?? '').replace('+Inf', 'Infinity'));
        const values = observed[sample.labels.get('cluster') ?? ''] ?? [];
        assert.equal(sample.value, values.filter((value) => value <= le).length);
      }
      const rows = Object.keys(observed).filter(isRepresentable);
      assert.equal(samples.length, rows.length * (B20cs.length + 3));
    }),
  );
});

test('one scrape is one instant, also when the numbers move while it is being written', async () => {
  const registry = createRegistry();
  const byClass = registry.gauge({ name: 'a_by_class', help: 'a', labels: { c: { max: 5_000 } } });
  const total = registry.gauge({ name: 'z_total_machines', help: 'z' });
  const classes = Array.from({ length: 3_000 }, (_, at) => byClass.labels({ c: `c${at}` }));
  const cycle = (value: number): void => {
    for (const series of classes) series.set(value);
    total.set(value * classes.length);
  };
  cycle(1);
  let turns = 0;
  const timers: Timers = {
    ...realRuntime().timers,
    turn: async () => {
      turns++;
      cycle(1 + turns);
      await drainMicrotasks();
    },
  };
  const families = parseFamilies(await createScraper({ timers, registries: [registry] }).scrape());
  const sum = Object.values(valuesOf(families, 'a_by_class')).reduce((a, b) => a + b, 0);
  assert.equal(sum, 3_000);
  assert.deepEqual(valuesOf(families, 'z_total_machines'), { '': 3_000 });
  assert.ok(turns >= 3, `expected several yields inside one large family, saw ${turns}`);
});

test('scrapers that arrive together share a render, and nobody gets numbers older than the request', async () => {
  const virtual = createVirtualRuntime({ seed: 'scrape', drain: drainMicrotasks });
  const registry = createRegistry();
  let collected = 0;
  registry.onCollect(() => {
    collected++;
  });
  const counter = registry.counter({ name: 'a_total', help: 'a' });
  const filler = registry.gauge({ name: 'b', help: 'b', labels: { c: { max: 2_000 } } });
  for (let at = 0; at < 2_000; at++) filler.labels({ c: `c${at}` });
  const scraper = createScraper({ timers: virtual.runtime.timers, registries: [registry] });
  const first = scraper.scrape();
  counter.inc();
  const waiting = Array.from({ length: 50 }, () => scraper.scrape());
  counter.inc();
  await virtual.runUntilIdle({ maxEvents: 10_000, maxMs: 1_000 });
  assert.deepEqual(valuesOf(parseFamilies(await first), 'a_total'), { '': 0 });
  const texts = await Promise.all(waiting);
  assert.equal(new Set(texts).size, 1);
  assert.deepEqual(valuesOf(parseFamilies(texts[0] ?? ''), 'a_total'), { '': 2 });
  assert.equal(collected, 2);
  const later = [scraper.scrape(), scraper.scrape()];
  counter.inc();
  await virtual.runUntilIdle({ maxEvents: 10_000, maxMs: 1_000 });
  const values = (await Promise.all(later)).map((text) => valuesOf(parseFamilies(text), 'a_total'));
  assert.deepEqual(values, [{ '': 2 }, { '': 3 }], 'later scrapes are new ones');
});

test('a failed collection fails that scrape and not the next', async () => {
  const registry = createRegistry();
  let broken = true;
  registry.onCollect(() => {
    if (broken) throw new Error('no /proc today');
  });
  registry.gauge({ name: 'a', help: 'a' });
  const scraper = createScraper({ timers: realRuntime().timers, registries: [registry] });
  const failing = scraper.scrape();
  const queued = scraper.scrape();
  await assert.rejects(failing, /no \/proc today/);
  await assert.rejects(queued, /no \/proc today/);
  broken = false;
  assert.match(await scraper.scrape(), /^# HELP a a\n/);
});

test('registries of one scrape are joined, and must not share a name', async () => {
  const [one, two] = [createRegistry(), createRegistry()];
  one.counter({ name: 'a_total', help: 'a' });
  two.counter({ name: 'b_total', help: 'b' });
  assert.deepEqual([...(await scrapeFamilies(one, two)).keys()], ['a_total', 'b_total']);
  two.counter({ name: 'a_total', help: 'a' });
  await assert.rejects(scrapeFamilies(one, two), { name: 'AssertionError' });
});

function textOf(registry: MetricRegistry): Promise<string> {
  return createScraper({ timers: realRuntime().timers, registries: [registry] }).scrape();
}
