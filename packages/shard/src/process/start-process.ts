// `bigfleet shard` from its settings to a serving process, in the order of shard §3.3: TLS, data
// directory, lock, epoch, providers, shard, probes. Whatever fails ends the start and closes what
// was opened, so that a refused start leaves no lock, socket or thread behind. Nothing here waits
// for the coordinator.

import type { Runtime } from '@bigfleet/base';
import type { DataDir } from '@bigfleet/process';
import {
  type DeltaTarget,
  followCertificates,
  type HttpServer,
  type Logger,
  type MetricRegistry,
  openSamples,
  type SampleTrace,
  startHttpServer,
  startProcessMetrics,
} from '@bigfleet/telemetry';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import {
  type AuditLog,
  createAuditDropCounter,
  noAuditLog,
  openAppendFile,
  openAuditLog,
} from '../audit/audit-log.ts';
import { createWorkerHost } from '../engine-host/worker-host.ts';
import { type DurableFile, durableFile } from '../rails/durable-file.ts';
import { ThreadedRecordsReader } from '../read/records-thread/threaded-reader.ts';
import type { ProviderSummaryInit } from '../read/shard-status.ts';
import { directorySegments } from '../records/segment-files.ts';
import { openDataDir } from './data-dir.ts';
import { type DialledProviders, dialProviders } from './dial-providers.ts';
import { nextEpoch } from './epoch.ts';
import { grpcTransport } from './grpc-transport.ts';
import type { ProcessSettings } from './process-settings.ts';
import { serveReading } from './serve-reading.ts';
import type { RunningShard } from './shard-options.ts';
import { startShard } from './start-shard.ts';
import { stopWithin } from './stop-shard.ts';

const HTTP_CLOSE_WITHIN_MS = 1_000;
const STOP_WITHIN_MS = 14_000;

export interface StartProcessOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly settings: ProcessSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of the coordinator's client, when there is one. */
  readonly coordinatorTerm?: () => bigint;
}

export interface RunningProcess {
  readonly shard: RunningShard;
  readonly epoch: bigint;
  readonly tls: TlsMaterial | undefined;
  /** A file of the data directory, which this process holds. */
  fileOf(name: string): DurableFile;
  /** Undefined when the probes are off. */
  readonly metricsAddress: string | undefined;
  /** The administrator moved the audit log away. */
  reopenAuditLog(): void;
  /** Within 15 s, whatever peers and disks do. Idempotent. */
  stop(): Promise<void>;
}

export async function startShardProcess(options: StartProcessOptions): Promise<RunningProcess> {
  await using opened = new AsyncDisposableStack();
  const prepared = await prepare(options, opened);
  const shard = await serve(options, prepared);
  opened.defer(() => shard.stop());
  const http = await startProbes(options, prepared, shard);
  const release = opened.move();
  let stopped: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    // The probes answer 503 until everything else is down.
    await shard.stop();
    await http.close(HTTP_CLOSE_WITHIN_MS);
    await release.disposeAsync();
  };
  const within = { runtime: options.runtime, logger: prepared.logger, ms: STOP_WITHIN_MS };
  return {
    shard,
    epoch: prepared.epoch,
    tls: prepared.tls,
    fileOf: (name) => durableFile(prepared.dataDir.at(name)),
    metricsAddress: http.address,
    reopenAuditLog: () => prepared.audit.reopen(),
    stop: () => (stopped ??= stopWithin(within, stopAll)),
  };
}

interface Prepared {
  readonly dataDir: DataDir;
  readonly epoch: bigint;
  readonly logger: Logger;
  readonly tls: TlsMaterial | undefined;
  readonly dialled: DialledProviders;
  readonly audit: AuditLog;
  readonly samples: SampleTrace | undefined;
  readonly engineThread: DeltaTarget;
}

/** Everything that a shard is given; closed by `opened`, in reverse. */
async function prepare(
  options: StartProcessOptions,
  opened: AsyncDisposableStack,
): Promise<Prepared> {
  const { runtime, registry, settings, env } = options;
  const material = tlsFromFlags({ ...settings.tls, env });
  const tls = material === 'plaintext' ? undefined : material;
  const dataDir = openDataDir(settings.dataDir);
  opened.defer(() => dataDir.release());
  const epoch = await nextEpoch(durableFile(dataDir.at('epoch')), settings.epochFloor);
  const { shardId } = settings;
  const logger = options.logger.child({
    component: 'shard',
    shard_id: shardId,
    epoch: String(epoch),
  });
  const build = { component: 'shard', ...settings.build };
  const metrics = startProcessMetrics({
    registry,
    clock: runtime.clock,
    build,
    workers: ['engine', 'reconcile'],
  });
  opened.defer(() => metrics.stop());
  const certificates = followCertificates({ runtime, logger, tls, metrics });
  opened.defer(() => certificates.stop());
  const providersFile = durableFile(dataDir.at('providers.json'));
  const reconcileThread = metrics.threads.deltaTarget('reconcile');
  const onThreadDeltas = (deltas: Float64Array): void => reconcileThread.applyDeltas(deltas);
  const dialled = await dialProviders({
    runtime,
    logger,
    settings,
    epoch,
    tls,
    providersFile,
    onThreadDeltas,
  });
  opened.defer(() => dialled.close());
  const audit = await openAudit(options, logger);
  opened.defer(() => audit.close());
  const { traceSamples: path } = settings;
  const samples = await openSamples({ path, runtime, registry, logger }, opened);
  const engineThread = metrics.threads.deltaTarget('engine');
  return { dataDir, epoch, logger, tls, dialled, audit, samples, engineThread };
}

async function serve(options: StartProcessOptions, prepared: Prepared): Promise<RunningShard> {
  const { runtime, registry, settings } = options;
  const { dataDir, epoch, logger, tls, dialled, audit, samples, engineThread } = prepared;
  const { shardId, listen, recordsDir } = settings;
  const hasRecords = settings.shard.recordsMaxBytes > 0;
  const host = createWorkerHost({ hasRecords, hasTrace: hasRecords }, (deltas) =>
    engineThread.applyDeltas(deltas),
  );
  await using unowned = new AsyncDisposableStack();
  unowned.defer(() => host.close());
  const shard = await startShard({
    runtime,
    logger,
    registry,
    shardId,
    epoch,
    host,
    providers: dialled.providers,
    storage: {
      rails: durableFile(dataDir.at('rails.json')),
      records: hasRecords ? directorySegments(recordsDir) : undefined,
      audit,
    },
    transport: grpcTransport({ runtime, logger, listen, tls }),
    settings: settings.shard,
    ownership: {
      files: {
        assignment: durableFile(dataDir.at('assignment.json')),
        transfers: durableFile(dataDir.at('transfers.json')),
        providers: durableFile(dataDir.at('providers.json')),
      },
      directory: dialled.directory,
      isSharedByFlag: settings.isProviderShared,
      connect: dialled.connect,
      connected: dialled.connected,
    },
    coordinatorTerm: options.coordinatorTerm,
    samples,
    extend: serveReading({
      version: settings.build.version,
      records: hasRecords ? new ThreadedRecordsReader(runtime, recordsDir) : undefined,
      providerFacts: (name) => factsOf(dialled, name),
      coordinatorTerm: options.coordinatorTerm,
    }),
  });
  unowned.move();
  return shard;
}

function factsOf({ directory }: DialledProviders, name: string): ProviderSummaryInit {
  const entry = directory.get(name);
  if (entry === undefined) return {};
  const { address, source, isShared } = entry;
  return { address, source, shared: isShared };
}

function startProbes(
  { runtime, registry, settings }: StartProcessOptions,
  { logger }: Prepared,
  { readiness }: RunningShard,
): Promise<HttpServer> {
  return startHttpServer({
    runtime,
    address: settings.metricsAddress,
    registries: [registry],
    readiness,
    logger,
    debugEndpoints: settings.hasDebugEndpoints,
  });
}

async function openAudit(
  { settings, runtime, registry }: StartProcessOptions,
  logger: Logger,
): Promise<AuditLog> {
  const dropped = createAuditDropCounter(registry);
  const { auditLog: path } = settings;
  if (path === '') return noAuditLog;
  return openAuditLog({ path, open: openAppendFile, clock: runtime.clock, logger, dropped });
}
