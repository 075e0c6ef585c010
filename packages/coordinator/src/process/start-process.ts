// `bigfleet coordinator` from its settings to a serving process. With SQLite the store is opened
// before the port serves, and what is wrong with it ends the start. With etcd the ports come first:
// a replica that waits to join, or for a quorum, is alive, not ready, says why, and stops when it is
// told; a probe that waited for the others would have it killed before they can come. Whatever fails
// closes what was opened, so that a refused start leaves no lock, child or socket behind.

import type { Runtime, Clock } from '@bigfleet/base';
import {
  followCertificates,
  type HttpServer,
  type Logger,
  type MetricRegistry,
  openSamples,
  type Readiness,
  type SampleTrace,
  stableMessages,
  startHttpServer,
  startProcessMetrics,
} from '@bigfleet/telemetry';
import { createGrpcServer, type GrpcServer, tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import type { CoordinatorMetrics } from '../metrics/coordinator-metrics.ts';
import { removeLostSpools } from '../service/snapshot-handlers.ts';
import { SnapshotExporter } from '../snapshots/export-snapshots.ts';
import { type AssembledCoordinator, assembleCoordinator, metricsOf } from './assemble.ts';
import { openStore } from './open-store.ts';
import type { CoordinatorSettings } from './settings.ts';
import type { StoreParts } from './store-parts.ts';

const STOP_GRACE_MS = 2_000;
const HTTP_CLOSE_WITHIN_MS = 1_000;
const MAX_CONNECTION_AGE_MS = 24 * 3_600_000;

export interface StartCoordinatorOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly settings: CoordinatorSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export interface RunningCoordinator {
  readonly address: string;
  /** Undefined when the probes are off. */
  readonly metricsAddress: string | undefined;
  readonly readiness: Readiness;
  /** Resolves with what the process cannot go on after. */
  readonly failed: Promise<Error>;
  /** Hands the leadership over, then closes. Idempotent. */
  stop(): Promise<void>;
}

export async function startCoordinatorProcess(
  options: StartCoordinatorOptions,
): Promise<RunningCoordinator> {
  await using opened = new AsyncDisposableStack();
  const stopping = new AbortController();
  opened.defer(() => stopping.abort());
  const failure = Promise.withResolvers<Error>();
  const fail = (error: unknown): void =>
    failure.resolve(error instanceof Error ? error : new Error(String(error)));
  const core = await prepare(options, opened, stopping.signal, fail);
  const { replica, readiness, health, parts } = core;
  if (parts.store.engine === 'sqlite') await replica.start();
  await removeLostSpools(options.settings.dataDir);
  const server = serve(options, core);
  const [address = options.settings.listen] = await server.bind();
  opened.defer(() => server.stop());
  const http = await startProbes(options, core);
  announce(options, core, address);
  if (parts.store.engine === 'etcd') startBeside(core, stopping.signal, fail);
  const release = opened.move();
  let stopped: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    stopping.abort();
    readiness.shutDown();
    health.setAll('not-serving');
    await replica.stop();
    await server.stop();
    await http.close(HTTP_CLOSE_WITHIN_MS);
    await release.disposeAsync();
  };
  return {
    address,
    metricsAddress: http.address,
    readiness,
    failed: failure.promise,
    stop: () => (stopped ??= stop()),
  };
}

/** The replica, once its etcd is formed; both until the process stops. */
function startBeside(
  { parts, replica }: Core,
  stopping: AbortSignal,
  fail: (error: unknown) => void,
): void {
  const run = async (): Promise<void> => {
    await parts.form?.();
    if (stopping.aborted) return;
    await Promise.all([replica.start(), parts.run?.()]);
  };
  run().catch((error: unknown) => {
    if (!stopping.aborted) fail(error);
  });
}

interface Core extends AssembledCoordinator {
  readonly tls: TlsMaterial | undefined;
  readonly logger: Logger;
  readonly parts: StoreParts;
}

async function prepare(
  options: StartCoordinatorOptions,
  opened: AsyncDisposableStack,
  signal: AbortSignal,
  onBug: (error: unknown) => void,
): Promise<Core> {
  const { runtime, registry, settings, env } = options;
  const material = tlsFromFlags({ ...settings.tls, env });
  const tls = material === 'plaintext' ? undefined : material;
  const logger = options.logger.child({ component: 'coordinator', node_id: settings.nodeId });
  const build = { component: 'coordinator', ...settings.build };
  const processMetrics = startProcessMetrics({ registry, clock: runtime.clock, build });
  opened.defer(() => processMetrics.stop());
  const certificates = followCertificates({ runtime, logger, tls, metrics: processMetrics });
  opened.defer(() => certificates.stop());
  const { traceSamples: path } = settings;
  const samples = await openSamples({ path, runtime, registry, logger }, opened);
  const metrics = tracedApplies(metricsOf(registry, runtime), samples, runtime.clock);
  const parts = await openStore({ runtime, logger, settings, metrics, tls, signal });
  opened.defer(() => parts.close?.());
  const { store, join } = parts;
  const { snapshots } = settings;
  const exporter =
    snapshots === undefined
      ? undefined
      : new SnapshotExporter({
          ...snapshots,
          runtime,
          store,
          log: logger,
          onSuccess: () => metrics.onSnapshotSaved(),
          onFailure: () => metrics.onSnapshotFailed(),
        });
  const assembled = assembleCoordinator({
    ...settings,
    runtime,
    logger,
    metrics,
    store,
    join,
    transport: tls?.mode === 'mtls' ? 'mtls' : 'plaintext',
    version: settings.build.version,
    beside: [
      async (leading) => parts.whileLeading?.(leading),
      async (leading) => exporter?.run(leading),
    ],
    onBug,
  });
  return { ...assembled, tls, logger, parts };
}

function serve({ runtime, settings }: StartCoordinatorOptions, core: Core): GrpcServer {
  const { router, tls, logger } = core;
  return createGrpcServer({
    runtime,
    router,
    listen: [settings.listen],
    ...(tls === undefined ? {} : { tls }),
    keepalive: 'session',
    maxConnectionAgeMs: MAX_CONNECTION_AGE_MS,
    stopGraceMs: STOP_GRACE_MS,
    onError: (report) => {
      // A panic was told by the router already.
      if (report.kind === 'panic') return;
      const level = report.kind === 'connection-refused' ? 'info' : 'warn';
      const fields = { peer: report.peerAddress, err: report.error };
      logger.log(level, report.kind.replace('-', ' '), fields);
    },
  });
}

function startProbes(
  { runtime, registry, settings }: StartCoordinatorOptions,
  { logger, readiness }: Core,
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

function announce(
  { logger, settings }: StartCoordinatorOptions,
  core: Core,
  address: string,
): void {
  const { store, nodeId, dataDir, mayBootstrap: bootstrap } = settings;
  logger.event(stableMessages.coordinatorListening, {
    grpc_addr: address,
    raft_bind: store.kind === 'managed-etcd' ? store.peerBind : '',
    node_id: nodeId,
    data_dir: dataDir,
  });
  core.logger.info('coordinator started', { store: core.parts.store.engine, bootstrap });
}

/**
 * The metrics, with every command's duration in the series `apply` of `--trace-samples`, refused
 * commands included: percentiles of the histogram are only good to a factor of two
 * (scale-and-testing §7). Without a trace nothing is added.
 */
function tracedApplies(
  metrics: CoordinatorMetrics,
  samples: Pick<SampleTrace, 'series'> | undefined,
  clock: Clock,
): CoordinatorMetrics {
  if (samples === undefined) return metrics;
  const series = samples.series('apply');
  return {
    ...metrics,
    onApply: (outcome, seconds) => {
      metrics.onApply(outcome, seconds);
      series.record(clock.monotonicMs() - seconds * 1_000, seconds);
    },
  };
}
