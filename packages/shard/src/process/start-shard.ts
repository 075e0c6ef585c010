// A whole shard out of its parts: the core, the sessions, the rails, records, metrics and logs, on
// whatever time, thread, disk and transport it is given. Wiring only; no coordinator anywhere.
//
// The order matters: settings are read before anything can act, services are complete before the
// first peer gets in, and the loop starts last. Stopping is the same backwards, within a bound.

import { BigFleetError } from '@bigfleet/base';
import { stableMessages } from '@bigfleet/telemetry';
import { observePool } from '../metrics/action-metrics.ts';
import { observeRecords, registerEpoch, registerPhase1Broker } from '../metrics/process-facts.ts';
import { openOwnership } from '../ownership/open-ownership.ts';
import { openActuation } from '../rails/actuation.ts';
import { createRailMetrics, observeBrakes } from '../rails/metrics.ts';
import { RecordWriter } from '../records/record-writer.ts';
import { createRouter } from './router.ts';
import type { RunningShard, ShardOptions, ShardParts } from './shard-options.ts';
import { stopShard } from './stop-shard.ts';
import { warnWithoutProvider } from './watches.ts';
import { ShardWiring } from './wiring.ts';

/** Rejects when this process must not serve: settings it cannot read, an address it cannot have. */
export async function startShard(options: ShardOptions): Promise<RunningShard> {
  const { runtime, logger, registry, shardId, epoch, host, providers, settings } = options;
  const failure = Promise.withResolvers<Error>();
  const actuation = await openActuation({
    flags: settings.rails,
    file: options.storage.rails,
    clock: runtime.clock,
    logger,
    metrics: createRailMetrics(registry),
  });
  registerEpoch(registry, epoch);
  registerPhase1Broker(registry);
  const supervise = supervisor(failure.resolve);
  const records = createRecords(options);
  const ownership =
    options.ownership === undefined
      ? undefined
      : await openOwnership(options.ownership, { ...options, fleet: () => wiring.core.fleet });
  const wiring: ShardWiring = new ShardWiring({
    options,
    actuation,
    records,
    ownership,
    supervise,
    fail: failure.resolve,
  });
  const { core, brake, operators, demand, timings } = wiring;
  observePool(registry, core.load, providers);
  observeBrakes(registry, brake);
  const parts: ShardParts = {
    shardId,
    epoch,
    startedUnixNanos: runtime.clock.unixNanos(),
    runtime,
    logger,
    registry,
    core,
    brake,
    host,
    providers,
    operators,
    actuation,
    demand,
    timings,
    records: options.storage.records,
    control: wiring.control,
    supervise,
  };
  const { router, extension } = createRouter(options, parts, wiring.forget);
  wiring.extend(extension);
  // An engine thread that still loads answers no roll-up, and an operator takes silence for a dead session.
  await host.ready();
  const listener = await options.transport.listen(router);
  logger.event(stableMessages.listening, {
    addr: listener.address,
    shard_id: shardId,
    epoch: String(epoch),
  });
  const providerWatch = warnWithoutProvider(runtime, logger, providers);
  core.start();
  const workerCount = Math.max(1, settings.executeConcurrency);
  const workers = { execute_workers: workerCount, queue_capacity: 2 * workerCount };
  logger.event(stableMessages.shardStarted, workers);
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    core.readiness.shutDown();
    providerWatch.stop();
    await stopShard({ options, core, operators, listener, records, extension });
    wiring.close();
    logger.event(stableMessages.shardStopped, workers);
  };
  return {
    parts,
    address: listener.address,
    readiness: core.readiness,
    failed: failure.promise,
    stop: () => (stopped ??= stop()),
  };
}

function createRecords(options: ShardOptions): RecordWriter | undefined {
  const { storage, settings, runtime, epoch, logger, registry } = options;
  if (storage.records === undefined || settings.recordsMaxBytes <= 0) return undefined;
  const records = new RecordWriter({
    files: storage.records,
    clock: runtime.clock,
    epoch,
    maxBytes: settings.recordsMaxBytes,
    rotateTrace: () => options.host.rotateTrace(),
    onError: (error) =>
      logger.error('decision record could not be written', {
        err: error instanceof Error ? error : String(error),
      }),
  });
  observeRecords(registry, records);
  return records;
}

/** Background work that rejects is a bug: the process says so and ends, it does not limp. */
function supervisor(fail: (error: Error) => void): ShardParts['supervise'] {
  return (component, work) => {
    work.catch((cause: unknown) =>
      fail(new BigFleetError('internal', `${component} ended by a bug`, { cause })),
    );
  };
}
