// The halves of `bigfleet all-in-one` in one process: coordinator, then shard, then the shard's reports
// to it; stopped the other way round. They speak over the same sockets as anywhere else.

import type { Runtime } from '@bigfleet/base';
import { startCoordinatorProcess } from '@bigfleet/coordinator';
import { startShardProcess } from '@bigfleet/shard';
import {
  allReady,
  createRegistry,
  type Logger,
  stableMessages,
  startHttpServer,
} from '@bigfleet/telemetry';
import { Reporting } from '../shard/reporting.ts';
import { oneScrape } from './one-scrape.ts';
import type { AllInOneSettings } from './settings.ts';

/** The first report leaves at once. */
const REPORT_INTERVAL_MS = 10_000;

export interface AllInOneOptions {
  readonly runtime: Runtime;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
  readonly settings: AllInOneSettings;
}

export interface RunningAllInOne {
  /** Resolves with what it cannot go on after. */
  readonly failed: Promise<Error>;
  stop(): Promise<void>;
}

export async function startAllInOne(options: AllInOneOptions): Promise<RunningAllInOne> {
  const { runtime, env, logger, settings } = options;
  await using opened = new AsyncDisposableStack();
  const registries = { coordinator: createRegistry(), shard: createRegistry() };
  const coordinator = await startCoordinatorProcess({
    runtime,
    env,
    logger,
    registry: registries.coordinator,
    settings: settings.coordinator,
  });
  opened.defer(() => coordinator.stop());
  const heard: { term(): bigint } = { term: () => 0n };
  const shardOptions = {
    runtime,
    env,
    logger,
    registry: registries.shard,
    settings: settings.shard,
    coordinatorTerm: (): bigint => heard.term(),
  };
  const shard = await startShardProcess(shardOptions);
  opened.defer(() => shard.stop());
  const reports = new Reporting({
    address: coordinator.address,
    shardAddress: shard.shard.address,
    intervalMs: REPORT_INTERVAL_MS,
  });
  heard.term = () => reports.term;
  await reports.start(shard, shardOptions);
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
