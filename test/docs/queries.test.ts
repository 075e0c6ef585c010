// Proves that every query on a page is answered by a real Prometheus that scrapes all processes of a
// running fleet: it is PromQL, and every series in it exists with the labels and values that it asks for.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRunningFleet } from '../monitoring/running-fleet.ts';
import { createTempDir, eventually, type Prometheus, startPrometheus } from '../toolkit/index.ts';
import { allBlocks } from './pages.ts';

const queries = allBlocks('promql');

test('every query of every page', async (t) => {
  assert.ok(queries.length > 5, `only ${queries.length} queries`);
  await using dir = createTempDir('queries');
  await using fleet = await startRunningFleet(dir.path);
  await using prometheus = await startPrometheus({
    scrape: fleet.scrape,
    // Also its timeout: at the default of 200 ms a busy machine makes processes look down.
    scrapeIntervalMs: 1_000,
  });
  await prometheus.waitScraped();
  await fleet.load();
  await prometheus.waitScraped();
  for (const { page, block } of queries) {
    await t.test(`${page}, line ${block.line}`, async () => {
      await prometheus.query(shortened(block.text));
      for (const selector of selectorsOf(block.text)) await hasSeries(prometheus, selector);
    });
  }
  await t.test('a series, a value and a syntax that do not exist are found', async () => {
    assert.deepEqual(await prometheus.query('bigfleet_shard_shortfall'), []);
    assert.deepEqual(selectorsOf('rate(a_total{k="v"}[5m]) > b'), ['a_total{k="v"}']);
    await assert.rejects(prometheus.query('sum(bigfleet_shard_shortfalls'));
  });
});

/** Of hours and days, a Prometheus of seconds has seen none: the same query over what it has. */
function shortened(query: string): string {
  return query.replace(/\[(?:90d|7d):1h\]/g, '[1m:1s]');
}

const SELECTOR = /\b((?:bigfleet|process|nodejs)_[a-z0-9_]+|[a-z]+_total)(\{[^}]*\})?/g;

/** A comparison may answer nothing in a healthy fleet; what it compares must be there. */
function selectorsOf(query: string): string[] {
  return [...query.matchAll(SELECTOR)].map(([, name = '', labels = '']) => `${name}${labels}`);
}

/** A gauge of a cycle, a report or a roll-up comes with the next one. */
async function hasSeries(prometheus: Prometheus, selector: string): Promise<void> {
  await eventually(async () => (await prometheus.query(selector)).length > 0, {
    what: `a series of ${selector}`,
  });
}
