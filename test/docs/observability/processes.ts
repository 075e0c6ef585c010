// Every process of BigFleet that exists today, started for real on free ports with nothing to do, so
// that each defines its series. The order is that of the page.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseClusterId, type Runtime } from '@bigfleet/base';
import { realRuntime } from '@bigfleet/base/real';
import { startCoordClient } from '@bigfleet/coordclient';
import { DEFAULT_REBALANCE_SETTINGS, startCoordinatorProcess } from '@bigfleet/coordinator';
import { startDashboard } from '@bigfleet/dashboard';
import { startOperator } from '@bigfleet/operator';
import { startPodController } from '@bigfleet/pod-controller';
import { type Backend, parseProviderFlags, startProvider } from '@bigfleet/providerkit';
import { LIBRARY_SETTINGS, startShardProcess } from '@bigfleet/shard';
import {
  captureSink,
  createLogger,
  type Logger,
  type MetricRegistry,
  stderrSink,
} from '@bigfleet/telemetry';
import { createGrpcChannel } from '@bigfleet/wire';
import {
  createRecordingRegistry,
  type DefinedMetric,
  undefinedNames,
} from './recording-registry.ts';

export interface ProcessSeries {
  readonly process: string;
  readonly series: readonly DefinedMetric[];
  /** Shown by a scrape without having been seen; must be empty. */
  readonly undefined: readonly string[];
}

interface Place {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly folder: string;
}

type Start = (place: Place, registry: MetricRegistry) => Promise<() => Promise<unknown>>;

const ANY_PORT = { kind: 'listen', host: '127.0.0.1', port: 0 } as const;
const NO_TLS = { cert: '', key: '', ca: '', requireTls: false };
const BUILD = { version: '0', revision: 'none' };

export async function definedSeries(): Promise<readonly ProcessSeries[]> {
  const runtime = realRuntime();
  const logger = createLogger({ clock: runtime.clock, sink: captureSink() });
  const folder = await mkdtemp(path.join(tmpdir(), 'bigfleet-series-'));
  const found: ProcessSeries[] = [];
  try {
    for (const [process, start] of STARTS) {
      const recording = createRecordingRegistry();
      const place = { runtime, logger, folder: path.join(folder, process) };
      const stop = await start(place, recording.registry);
      found.push({ process, series: recording.defined, undefined: undefinedNames(recording) });
      await stop();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return found;
}

/** What every entry point makes for itself: the writer of its log. */
function startLog(runtime: Runtime, registry: MetricRegistry): void {
  stderrSink({ timers: runtime.timers, registry });
}

const shard: Start = async ({ runtime, logger, folder }, registry) => {
  startLog(runtime, registry);
  const running = await startShardProcess({
    runtime,
    logger,
    registry,
    env: {},
    settings: {
      shardId: 'shard-0',
      listen: '127.0.0.1:0',
      metricsAddress: ANY_PORT,
      dataDir: folder,
      providers: { kind: 'stored' },
      isProviderShared: false,
      providerKeepalive: { timeMs: 60_000, timeoutMs: 20_000, withoutCalls: false },
      epochFloor: 0n,
      recordsDir: path.join(folder, 'records'),
      auditLog: path.join(folder, 'audit.log'),
      traceSamples: path.join(folder, 'samples'),
      hasDebugEndpoints: false,
      tls: NO_TLS,
      shard: { ...LIBRARY_SETTINGS, recordsMaxBytes: 1_048_576, hasPhaseAttribution: true },
      build: BUILD,
    },
  });
  const { control } = running.shard.parts;
  if (control === undefined) throw new Error('a shard process can be steered');
  const client = await startCoordClient({
    runtime,
    logger,
    registry,
    control,
    coordinatorAddress: '127.0.0.1:1',
    shardAddress: '127.0.0.1:1',
    intervalMs: 10_000,
    termFile: running.fileOf('coordinator-term'),
    resolve: () => Promise.resolve([]),
    connect: ({ address }) => createGrpcChannel({ runtime, target: address }),
  });
  return async () => {
    client.stop();
    await running.stop();
  };
};

const coordinator: Start = async ({ runtime, logger, folder }, registry) => {
  startLog(runtime, registry);
  await mkdir(folder, { recursive: true });
  const running = await startCoordinatorProcess({
    runtime,
    logger,
    registry,
    env: {},
    settings: {
      nodeId: 'coordinator-0',
      listen: '127.0.0.1:0',
      advertiseAddress: '127.0.0.1:0',
      metricsAddress: ANY_PORT,
      dataDir: folder,
      mayBootstrap: true,
      store: { kind: 'sqlite' },
      snapshots: undefined,
      rebalance: DEFAULT_REBALANCE_SETTINGS,
      traceSamples: path.join(folder, 'samples'),
      hasDebugEndpoints: false,
      hasReflection: false,
      tls: NO_TLS,
      build: BUILD,
    },
  });
  return () => running.stop();
};

/** No API server and no shard: the series are there all the same. */
async function unreachableCluster(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'kubeconfig');
  const config = {
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c' } }],
    clusters: [{ name: 'c', cluster: { server: 'http://127.0.0.1:1' } }],
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

const operator: Start = async ({ runtime, logger, folder }, registry) => {
  startLog(runtime, registry);
  const kubeconfig = await unreachableCluster(folder);
  const clusterId = parseClusterId('c');
  if (!clusterId.ok) throw new Error(clusterId.error.problem);
  const running = await startOperator({
    runtime,
    logger,
    registry,
    env: {},
    settings: {
      clusterId: clusterId.value,
      shardAddress: '127.0.0.1:1',
      kubeconfig,
      metricsAddress: ANY_PORT,
      qps: 50,
      burst: 100,
      acknowledgeConcurrency: 16,
      rollupIntervalMs: 10_000,
      bootstrapTemplateFile: '',
      bootstrapAllowedKeys: new Set(),
      apiServerEndpoint: '',
      bootstrapToken: undefined,
      lease: undefined,
      tls: NO_TLS,
      shardId: '',
      shardServerName: '',
      traceSamples: path.join(folder, 'samples'),
      hasDebugEndpoints: false,
      build: BUILD,
    },
  });
  return () => running.stop();
};

const podController: Start = async ({ runtime, logger, folder }, registry) => {
  startLog(runtime, registry);
  const kubeconfig = await unreachableCluster(folder);
  const running = await startPodController({
    runtime,
    logger,
    registry,
    env: {},
    settings: {
      kubeconfig,
      metricsAddress: ANY_PORT,
      qps: 50,
      burst: 100,
      classDefaultsFile: '',
      daemonSetPods: 'count',
      excludedNamespaces: new Set(),
      requireTls: false,
      traceSamples: path.join(folder, 'samples'),
      hasDebugEndpoints: false,
      build: BUILD,
    },
  });
  return () => running.stop();
};

const dashboard: Start = async ({ runtime, logger, folder }, registry) => {
  startLog(runtime, registry);
  const running = await startDashboard({
    runtime,
    logger,
    registry,
    env: {},
    settings: {
      listen: ANY_PORT,
      shards: [],
      coordinators: [],
      recordsDirs: new Map(),
      rackLabels: [],
      teams: [],
      conformanceReports: new Map(),
      isSimulated: false,
      webDir: folder,
      allowedHosts: [],
      maxStreams: 1,
      historyBytes: 0,
      recordsBytes: 0,
      tls: NO_TLS,
      build: BUILD,
    },
  });
  return () => running.stop();
};

/** A provider that uses every service of the kit; its name is the `<p>` of the page. */
const provider: Start = async ({ runtime, logger, folder }, registry) => {
  startLog(runtime, registry);
  const refuse = (): Promise<never> => Promise.reject(new Error('nothing to act on'));
  const backend: Backend = {
    describe: () => Promise.resolve([]),
    createInstance: refuse,
    configureInstance: refuse,
    confirmNodeReady: refuse,
    drainInstance: refuse,
    deleteInstance: refuse,
  };
  const definition = {
    name: 'p',
    version: '0.0.0',
    flags: {},
    offerings: { capacityTypes: ['OnDemand' as const] },
    defaultMix: [{ instanceType: 'small', zone: 'a', capacityType: 'OnDemand' as const }],
    priceRefreshMs: 3_600_000,
    apiOperations: ['CreateServer'],
    createBackend: () => ({ backend, priceOf: () => 1, refreshPrices: () => Promise.resolve() }),
  };
  const argv = [
    '--use-fake-backend',
    '--addr=127.0.0.1:0',
    '--metrics-addr=127.0.0.1:0',
    `--state=${folder}`,
  ];
  const parsed = parseProviderFlags(definition, { argv, env: {} });
  if (parsed.kind !== 'settings') throw new Error('the flags of a provider were refused');
  const { settings } = parsed;
  const running = await startProvider({ definition, settings, runtime, logger, registry });
  return () => running.stop();
};

const STARTS: readonly (readonly [string, Start])[] = [
  ['shard', shard],
  ['coordinator', coordinator],
  ['operator', operator],
  ['pod-controller', podController],
  ['dashboard', dashboard],
  ['provider', provider],
];
