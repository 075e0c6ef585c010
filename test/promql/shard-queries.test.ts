// Proves that every query of the founding documents over `bigfleet_shard_*` works as printed, in a
// real Prometheus that scrapes a loaded shard process: with the series, labels and values it should
// have. And that each answer is checked: any series or label taken away from it fails.

import { test } from 'node:test';
import { createTempDir, eventually, http, startPrometheus, unixMs } from '../toolkit/index.ts';
import { assertAnswer, JOB } from './answer.ts';
import { askEach } from './ask.ts';
import { startLoadedShard } from './loaded-shard.ts';
import { serveRecordedHour } from './recorded-hour.ts';
import { HOURLY_QUERIES, LIVE_QUERIES } from './shard-queries.ts';

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
      { what: 'the shard is seen down' },
    );
    assertAnswer(down, { by: [], isRaw: true, values: { '': 0 } });
  });
});
