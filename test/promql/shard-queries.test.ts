// Proves that every query of the founding documents over `bigfleet_shard_*` works as printed, in a
// real Prometheus that scrapes a loaded shard process: with the series, labels and values it should
// have. And that each answer is checked: any series or label taken away from it fails.

import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import {
  createTempDir,
  eventually,
  http,
  type Prometheus,
  type PrometheusSample,
  startPrometheus,
  unixMs,
} from '../toolkit/index.ts';
import { type Answer, assertAnswer, JOB } from './answer.ts';
import { startLoadedShard } from './loaded-shard.ts';
import { serveRecordedHour } from './recorded-hour.ts';
import { HOURLY_QUERIES, LIVE_QUERIES, type QueryCase } from './shard-queries.ts';

test('PromQL of the founding documents over a loaded shard', async (t) => {
  await using dir = createTempDir('promql');
  await using loaded = await startLoadedShard(dir.path);
  const { shard } = loaded;
  // Before the load: a rate needs to have seen the counter at 0.
  await using prometheus = await startPrometheus({
    scrape: [{ job: JOB, targets: [shard.metricsAddress] }],
    // Also its timeout: at the default of 200 ms a busy machine makes the shard look down.
    scrapeIntervalMs: 1_000,
  });
  await prometheus.waitScraped();
  await loaded.load();
  await prometheus.waitScraped();

  await askEach(t, prometheus, { cases: LIVE_QUERIES, atSeconds: unixMs() / 1_000 });

  await t.test('queries over full hours', async (hours) => {
    const { body } = await http({ url: `http://${shard.metricsAddress}/metrics` });
    await using hour = await serveRecordedHour(body);
    await using planner = await startPrometheus({
      scrape: [{ job: JOB, targets: [hour.target] }],
    });
    await planner.waitScraped();
    await askEach(hours, planner, { cases: HOURLY_QUERIES, atSeconds: hour.atSeconds });
  });

  await t.test('18: up==0 of the shard job, once its process is gone', async () => {
    const query = 'up==0';
    assertAnswer(await prometheus.query(query), { by: [], isRaw: true, values: {} });
    shard.process.signal('SIGKILL');
    const down = await eventually(
      async () => {
        const samples = await prometheus.query(query);
        return samples.length > 0 && samples;
      },
      { what: 'the shard is seen down', withinMs: 5_000 },
    );
    assertAnswer(down, { by: [], isRaw: true, values: { '': 0 } });
  });
});

interface Questions {
  readonly cases: readonly QueryCase[];
  /** One instant for all: what is compared comes from the same scrape. */
  readonly atSeconds: number;
}

async function askEach(
  t: TestContext,
  prometheus: Prometheus,
  { cases, atSeconds }: Questions,
): Promise<void> {
  for (const { at, query, answer } of cases) {
    await t.test(`${at}: ${query.replaceAll('\n', ' ')}`, async () => {
      const samples = await prometheus.query(query, atSeconds);
      assertAnswer(samples, answer);
      assertChecked(samples, answer);
    });
  }
}

/** The answer itself passed: the same without one of its series, labels or values must not. */
function assertChecked(samples: readonly PrometheusSample[], answer: Answer): void {
  const doctored: (readonly PrometheusSample[])[] = samples.flatMap((sample, at) => [
    samples.with(at, { ...sample, labels: { ...sample.labels, pod: 'x' } }),
    ...Object.keys(sample.labels).map((label) =>
      samples.with(at, { ...sample, labels: without(sample.labels, label) }),
    ),
    ...(Number.isNaN(sample.value) ? [] : [samples.with(at, { ...sample, value: Number.NaN })]),
    ...(isOptional(sample, answer) ? [] : [samples.toSpliced(at, 1)]),
  ]);
  const alien = { labels: { alien: 'yes' }, atSeconds: 0, value: 1 };
  for (const each of [...doctored, [...samples, alien]]) {
    assert.throws(() => assertAnswer(each, answer), assert.AssertionError);
  }
}

function without(labels: PrometheusSample['labels'], gone: string): PrometheusSample['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => label !== gone));
}

function isOptional({ labels }: PrometheusSample, { by, mayAlsoHave = {} }: Answer): boolean {
  return by.map((label) => labels[label]).join(',') in mayAlsoHave;
}
