// `bigfleet dashboard` from its settings to a running process. The start waits for nobody: every source may
// be down, and the pages say which. The process holds nothing that is not told it again, so that it can be
// ended and started at any time, and several may run side by side.

import { describeThrown, err, type Result, type Runtime } from '@bigfleet/base';
import {
  createReadiness,
  followCertificates,
  type Logger,
  type MetricRegistry,
  startProcessMetrics,
} from '@bigfleet/telemetry';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import type { NeedRef, Problem, Source } from '../api/index.ts';
import { createFleet, type Fleet } from '../model/index.ts';
import { readConformanceReports } from './provider-reports.ts';
import { identityProblem } from './identity.ts';
import { type ServedFleet, serveFleet } from './serve-fleet.ts';
import { builtWebDir, type DashboardSettings } from './settings.ts';
import { CoordinatorReader } from './sources/coordinator-reader.ts';
import { grpcNetwork, type Network } from './sources/network.ts';
import { createOutside } from './sources/outside.ts';
import { ShardSet } from './sources/shard-set.ts';
import { WhatIfJobs } from './what-if/what-if-jobs.ts';

/** Finds the need of a Pod in its cluster. How a Pod becomes demand is the operator's rule. */
export interface PodNeeds {
  readonly clusters: readonly string[];
  needOfPod(cluster: string, pod: string): Promise<Result<NeedRef, Problem>>;
  close(): void;
}

export interface StartDashboardOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly settings: DashboardSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absent: no cluster can be asked. Closed with the dashboard. */
  readonly podNeeds?: PodNeeds | undefined;
  /** Default: gRPC, with the certificate of the settings. */
  readonly network?: Network | undefined;
}

export interface RunningDashboard {
  /** As bound. */
  readonly address: string;
  /** Resolves with what it cannot go on after. */
  readonly failed: Promise<Error>;
  readonly logger: Logger;
  /** Idempotent. */
  stop(): Promise<void>;
}

const COMPONENT = 'dashboard';

export async function startDashboard(options: StartDashboardOptions): Promise<RunningDashboard> {
  const { runtime, registry, settings, podNeeds } = options;
  const logger = options.logger.child({ component: COMPONENT });
  const failed = Promise.withResolvers<Error>();
  const onBug = (bug: unknown): void =>
    failed.resolve(bug instanceof Error ? bug : new Error(describeThrown(bug)));
  const stopper = new AbortController();
  await using opened = new AsyncDisposableStack();
  if (podNeeds !== undefined) opened.defer(() => podNeeds.close());
  const tls = readerMaterial(options, onBug, opened);
  const conformance = await readConformanceReports(settings.conformanceReports);
  const own = startProcessMetrics({
    registry,
    clock: runtime.clock,
    build: { component: COMPONENT, ...settings.build },
  });
  opened.defer(() => own.stop());
  const certificates = followCertificates({ runtime, logger, tls, metrics: own });
  opened.defer(() => certificates.stop());
  const jobs = new WhatIfJobs({ runtime, directories: settings.recordsDirs });
  opened.defer(() => jobs.stop());
  const network = options.network ?? grpcNetwork(runtime, tls);
  const { isSimulated, historyBytes, recordsBytes: recordBytes } = settings;
  /** Made after the port is open: what it follows is told to pages that may be there already. */
  const made: { shards?: ShardSet } = {};
  const fleet = createFleet({
    nowMs: () => Number(runtime.clock.unixNanos() / 1_000_000n),
    isSimulated,
    limits: { historyBytes, recordBytes },
    annotations: { teams: settings.teams, conformance },
    outside: createOutside({
      runtime,
      signal: stopper.signal,
      follower: (shard) => made.shards?.follower(shard),
      whatIf: (params) => jobs.ask(params),
      needOfPod: (cluster, pod) => needOfPod(podNeeds, cluster, pod),
    }),
  });
  const readiness = createReadiness({ reason: 'starting', latched: true });
  const served = await serveFleet({
    ...options,
    logger,
    fleet,
    readiness,
    listen: settings.listen,
    webDir: settings.webDir ?? builtWebDir(),
    allowedHosts: settings.allowedHosts,
    maxStreams: settings.maxStreams,
    version: settings.build.version,
    outsideVersion: () => jobs.version,
    onBug,
  });
  opened.defer(() => served.close());
  const keys = { rack: settings.rackLabels };
  const set = new ShardSet({
    runtime,
    logger,
    network,
    fleet,
    keys,
    fixed: settings.shards,
    onBug,
  });
  made.shards = set;
  opened.defer(() => set.stop());
  tellFixedSources(options, fleet);
  const parts = { network, fleet, shards: set, stopper, onBug };
  const reading = readCoordinator({ ...options, logger }, parts);
  readiness.markReady();
  logger.info('dashboard serving', {
    addr: served.address,
    web: urlOf(served),
    shards: settings.shards.length,
  });
  return running({
    served,
    logger,
    failed: failed.promise,
    opened: opened.move(),
    stop: async () => {
      readiness.shutDown();
      stopper.abort(new Error('the dashboard stops'));
      await reading;
    },
  });
}

interface RunningParts {
  readonly served: ServedFleet;
  readonly logger: Logger;
  readonly failed: Promise<Error>;
  readonly opened: AsyncDisposableStack;
  readonly stop: () => Promise<void>;
}

function running({ served, logger, failed, opened, stop }: RunningParts): RunningDashboard {
  const stopAll = async (): Promise<void> => {
    await stop();
    await opened.disposeAsync();
    logger.info('dashboard stopped', {});
  };
  let stopping: Promise<void> | undefined;
  return { address: served.address, failed, logger, stop: () => (stopping ??= stopAll()) };
}

/** The certificate, checked now and whenever it is replaced. */
function readerMaterial(
  { settings, env }: StartDashboardOptions,
  onBug: (bug: unknown) => void,
  opened: AsyncDisposableStack,
): TlsMaterial | undefined {
  const material = tlsFromFlags({ ...settings.tls, env });
  if (material === 'plaintext') return undefined;
  const problem = identityProblem(material);
  if (problem !== undefined) throw problem;
  const unsubscribe = material.onChange(() => {
    const later = identityProblem(material);
    if (later !== undefined) onBug(later);
  });
  opened.defer(unsubscribe);
  return material;
}

async function needOfPod(
  podNeeds: PodNeeds | undefined,
  cluster: string,
  pod: string,
): Promise<Result<NeedRef, Problem>> {
  if (podNeeds !== undefined) return podNeeds.needOfPod(cluster, pod);
  const message =
    'no cluster can be asked about its Pods: name one with --kubeconfig=<cluster>=<file>';
  return err({ code: 'source_absent', message });
}

/** Sources that are there or not from the start on; a page that misses one names its flag. */
function tellFixedSources(
  { runtime, settings, podNeeds }: StartDashboardOptions,
  fleet: Fleet,
): void {
  const sinceMs = Number(runtime.clock.unixNanos() / 1_000_000n);
  const tell = (source: Pick<Source, 'kind' | 'name' | 'state' | 'flag' | 'problem'>): void =>
    fleet.source({ ...source, sinceMs, dataMs: null });
  const absent = (kind: Source['kind'], flag: string, problem: string): void =>
    tell({ kind, name: '', state: 'absent', flag, problem });
  if (settings.coordinators.length === 0) {
    absent('coordinator', '--coordinator', 'no coordinator is named');
  }
  if (settings.shards.length === 0 && settings.coordinators.length === 0) {
    absent('shard', '--shard', 'no shard is named, and no coordinator that knows them');
  }
  for (const name of settings.recordsDirs.keys()) {
    tell({ kind: 'records', name, state: 'live', flag: '--records-dir', problem: '' });
  }
  if (settings.recordsDirs.size === 0) {
    absent('records', '--records-dir', 'what-if needs the records directory of a shard');
  }
  for (const name of podNeeds?.clusters ?? []) {
    tell({ kind: 'kubernetes', name, state: 'live', flag: '--kubeconfig', problem: '' });
  }
  if (podNeeds === undefined) {
    absent('kubernetes', '--kubeconfig', 'Pods are found in their clusters');
  }
}

interface CoordinatorParts {
  readonly network: Network;
  readonly fleet: Fleet;
  readonly shards: ShardSet;
  readonly stopper: AbortController;
  readonly onBug: (bug: unknown) => void;
}

/** Resolves when it has ended. */
async function readCoordinator(
  { runtime, logger, settings }: StartDashboardOptions,
  { network, fleet, shards, stopper, onBug }: CoordinatorParts,
): Promise<void> {
  if (settings.coordinators.length === 0) return;
  const reader = new CoordinatorReader({
    runtime,
    logger,
    network,
    addresses: settings.coordinators,
    onFacts: (facts) => fleet.coordinator(facts),
    onShards: (registered) => shards.register(registered),
    onSource: (source) => fleet.source(source),
  });
  await reader.run(stopper.signal).catch(onBug);
}

function urlOf({ address }: ServedFleet): string {
  return `http://${address.replace(/^(?:0\.0\.0\.0|\[::\]):/, 'localhost:')}/`;
}
