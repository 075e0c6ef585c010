// `bigfleet all-in-one`: coordinator, then shard, then the shard's reports to it, in one process; stopped
// the other way round. They speak over the same sockets as anywhere else.

import { startCoordinatorProcess } from '@bigfleet/coordinator';
import { startShardProcess } from '@bigfleet/shard';
import {
  allReady,
  createRegistry,
  type MetricRegistry,
  stableMessages,
  startHttpServer,
} from '@bigfleet/telemetry';
import { type Command, serveCommand, type ServeOptions, type Serving } from '../command.ts';
import { Reporting } from '../shard/reporting.ts';
import { allInOneFlags } from './flags.ts';
import { type AllInOneSettings, allInOneSettings } from './settings.ts';

/** The first report leaves at once. */
const REPORT_INTERVAL_MS = 10_000;

export const allInOneCommand: Command = serveCommand({
  name: 'all-in-one',
  summary: 'coordinator, shard and a fake provider in one process, for laptops',
  flags: allInOneFlags,
  settings: ({ values }, env) => allInOneSettings(values, env),
  start,
});

async function start(options: ServeOptions<AllInOneSettings>): Promise<Serving> {
  const { runtime, env, logger, settings } = options;
  await using opened = new AsyncDisposableStack();
  const registries = { coordinator: createRegistry(), shard: createRegistry() };
  const common = { runtime, env, logger };
  const coordinator = await startCoordinatorProcess({
    ...common,
    registry: registries.coordinator,
    settings: settings.coordinator,
  });
  opened.defer(() => coordinator.stop());
  const reports = new Reporting();
  const shardOptions = {
    ...common,
    registry: registries.shard,
    settings: settings.shard,
    coordinatorTerm: (): bigint => reports.term,
  };
  const shard = await startShardProcess(shardOptions);
  opened.defer(() => shard.stop());
  const { address: shardAddress } = shard.shard;
  const reporting = { address: coordinator.address, shardAddress, intervalMs: REPORT_INTERVAL_MS };
  await reports.start(reporting, shard, shardOptions);
  opened.defer(() => reports.stop());
  const { sharedMetricsAddress: address } = settings;
  if (address !== undefined) {
    const http = await startHttpServer({
      runtime,
      address,
      flag: '--shard-metrics-addr',
      registries: [oneScrape(registries.shard, registries.coordinator)],
      readiness: allReady([coordinator.readiness, shard.shard.readiness]),
      logger,
      debugEndpoints: settings.shard.hasDebugEndpoints,
    });
    opened.defer(() => http.close());
  }
  logger.event(stableMessages.allInOneReady, {
    coordinator: coordinator.address,
    shard: shard.shard.address,
    raft: settings.raftBind,
    data_dir: settings.dataDir,
  });
  const owned = opened.move();
  return {
    failed: Promise.race([coordinator.failed, shard.shard.failed]),
    stop: () => owned.disposeAsync(),
  };
}

type Scraped = Pick<MetricRegistry, 'snapshot'>;

/**
 * The metrics of both halves as one scrape. Families that describe the process, such as its memory, are
 * counted by both halves and taken from `first`.
 */
function oneScrape(first: Scraped, second: Scraped): Scraped {
  return {
    snapshot: () => {
      const { families } = first.snapshot();
      const names = new Set(families.map(({ name }) => name));
      const rest = second.snapshot().families.filter(({ name }) => !names.has(name));
      return { families: [...families, ...rest] };
    },
  };
}
