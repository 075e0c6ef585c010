// Proves that every query of the founding documents over `bigfleet_coordinator_*` works as printed, in
// a real Prometheus that scrapes a loaded coordinator process: with the series, labels and values it
// should have. And that each answer is checked: any series or label taken away from it fails.

import { test } from 'node:test';
import { createTempDir, startPrometheus, unixMs } from '../toolkit/index.ts';
import { COORDINATOR_JOB } from './answer.ts';
import { askEach } from './ask.ts';
import { COORDINATOR_QUERIES } from './coordinator-queries.ts';
import { startLoadedCoordinator } from './loaded-coordinator.ts';

test('PromQL of the founding documents over a loaded coordinator', async (t) => {
  await using dir = createTempDir('promql-coordinator');
  await using coordinator = await startLoadedCoordinator(dir.path);
  // Before the load and the election: a rate needs to have seen what was there before.
  await using prometheus = await startPrometheus({
    scrape: [{ job: COORDINATOR_JOB, targets: [coordinator.metricsAddress] }],
    // Also its timeout: at the default of 200 ms a busy machine makes the coordinator look down.
    scrapeIntervalMs: 1_000,
  });
  await prometheus.waitScraped();
  await coordinator.elect();
  await prometheus.waitScraped();
  await coordinator.load();
  await prometheus.waitScraped();
  await askEach(t, prometheus, { cases: COORDINATOR_QUERIES, atSeconds: unixMs() / 1_000 });
});
