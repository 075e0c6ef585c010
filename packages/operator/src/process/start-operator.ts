// `bigfleet-operator` from its settings to a running process (kubernetes §6.1). The start waits for
// nobody: neither the API server nor the shard has to be there, and whatever refuses the start closes
// what was opened. The first dial comes after the first full lists, because drains of an earlier process
// are taken up from the Nodes when a session begins.
//
// The stop is in the order that a rolling update needs: no dial any more, the stream closed, writes under
// way within their grace, drains left to the next process, then the Lease, then the watches.

import type { ErrorCode, Runtime } from '@bigfleet/base';
import {
  clusterAccess,
  type ClusterAccess,
  FirstSync,
  HttpsTransport,
  KubeClient,
  runningProgram,
  type RunningProgram,
  WriteLanes,
} from '@bigfleet/kube';
import {
  createSampledMessage,
  followCertificates,
  type HttpServer,
  type Logger,
  type LogMessage,
  type MetricRegistry,
  openSamples,
  stableMessages,
  startHttpServer,
  startProcessMetrics,
} from '@bigfleet/telemetry';
import { tlsFromFlags, type TlsMaterial } from '@bigfleet/wire';
import { bootstrapRenderer } from '../cluster/bootstrap.ts';
import { type ClusterHooks, KubeCluster } from '../cluster/kube-cluster.ts';
import { TokenPool } from '../cluster/token-pool.ts';
import { createOperatorMetrics, type OperatorMetrics } from '../session/metrics.ts';
import { FollowedFacts } from './cluster-facts.ts';
import {
  choreFailed,
  evictionFailed,
  leftOverKept,
  operatorStopped,
  templateMissing,
  tokenFailed,
  versionUnknown,
} from './log-messages.ts';
import { createClusterMetrics, tracedMetrics } from './metrics.ts';
import { runSessions } from './sessions.ts';
import type { OperatorSettings } from './settings.ts';
import { readTemplate } from './template-file.ts';

export interface StartOperatorOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  readonly settings: OperatorSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const COMPONENT = 'operator';
const PROGRAM = 'bigfleet-operator';
const LINES_PER_SECOND = 5;
const MISSING_TEMPLATE = {
  code: 'bootstrap_template_missing' satisfies ErrorCode,
  flag: '--bootstrap-template-file',
  chart_value: 'bootstrapTemplate',
};

export async function startOperator(options: StartOperatorOptions): Promise<RunningProgram> {
  const { settings } = options;
  const { clusterId: cluster } = settings;
  const logger = options.logger.child({ component: COMPONENT, cluster });
  logger.event(stableMessages.operatorStarted, {
    cluster,
    shard: settings.shardAddress,
    rollup_interval: `${settings.rollupIntervalMs / 1000}s`,
  });
  if (settings.bootstrapTemplateFile === '') logger.event(templateMissing, MISSING_TEMPLATE);
  await using opened = new AsyncDisposableStack();
  const parts = await prepare({ ...options, logger }, opened);
  const { kube, sync, facts, pool, http, ender } = parts;
  const stopper = new AbortController();
  const sessions = runSessions({ ...options, ...parts, logger, stop: stopper.signal });
  const running = Promise.all([kube.run(), facts.follow(ender.signal), pool?.start(), sessions]);
  return runningProgram({
    logger,
    sync,
    http,
    running,
    end: async (reason) => {
      stopper.abort(reason);
      await sessions.catch(() => undefined);
      ender.abort(reason);
    },
    opened: opened.move(),
    stopped: operatorStopped,
  });
}

interface Prepared {
  readonly client: KubeClient;
  readonly access: ClusterAccess;
  readonly tls: TlsMaterial | undefined;
  readonly kube: KubeCluster;
  readonly metrics: OperatorMetrics;
  readonly sync: FirstSync;
  readonly facts: FollowedFacts;
  readonly pool: TokenPool | undefined;
  readonly http: HttpServer;
  /** Ends watches and background tasks, after the sessions. */
  readonly ender: AbortController;
}

/** Everything that sessions are given; closed by `opened`, in reverse. */
async function prepare(
  options: StartOperatorOptions,
  opened: AsyncDisposableStack,
): Promise<Prepared> {
  const { runtime, logger, registry, settings, env } = options;
  const template = await readTemplate(settings.bootstrapTemplateFile);
  const material = tlsFromFlags({ ...settings.tls, env });
  const tls = material === 'plaintext' ? undefined : material;
  const build = { component: COMPONENT, ...settings.build };
  const own = startProcessMetrics({ registry, clock: runtime.clock, build });
  opened.defer(() => own.stop());
  const certificates = followCertificates({ runtime, logger, tls, metrics: own });
  opened.defer(() => certificates.stop());
  const { traceSamples: path } = settings;
  const samples = await openSamples({ path, runtime, registry, logger }, opened);
  const { clock } = runtime;
  const { requireTls } = settings.tls;
  const access = await clusterAccess({ kubeconfig: settings.kubeconfig, env, clock, requireTls });
  const transport = new HttpsTransport({
    access,
    userAgent: `${PROGRAM}/${settings.build.version}`,
  });
  opened.defer(() => transport.close());
  const lanes = new WriteLanes({ runtime, qps: settings.qps, burst: settings.burst });
  const client = new KubeClient({ runtime, transport, lanes, fieldManager: PROGRAM });
  const ender = new AbortController();
  const { signal } = ender;
  const facts = new FollowedFacts({
    runtime,
    client,
    access,
    endpoint: settings.apiServerEndpoint,
    onFailure: (err) => logger.event(versionUnknown, { err }),
  });
  const pool = tokenPool(options, client, signal);
  const clusterMetrics = createClusterMetrics(registry, clock);
  const sync: FirstSync = new FirstSync({ runtime, logger, unsynced: () => kube.unsynced() });
  opened.defer(() => sync.close());
  const kube: KubeCluster = new KubeCluster({
    runtime,
    client,
    renderBootstrap: bootstrapRenderer({
      clusterId: settings.clusterId,
      template,
      allowedKeys: settings.bootstrapAllowedKeys,
      facts,
      token: pool === undefined ? undefined : () => pool.take(),
    }),
    hooks: { ...clusterMetrics, ...spokenHooks(options, sync, opened) },
    signal,
  });
  clusterMetrics.collect(kube);
  const http = await startHttpServer({
    runtime,
    logger,
    address: settings.metricsAddress,
    registries: [registry],
    readiness: sync,
    debugEndpoints: settings.hasDebugEndpoints,
  });
  const metrics = tracedMetrics(createOperatorMetrics(registry), samples, clock);
  return { client, access, tls, kube, metrics, sync, facts, pool, http, ender };
}

type SpokenHooks = Pick<
  ClusterHooks,
  'reflectorFailed' | 'evictionFailed' | 'choreFailed' | 'leftOverKept'
>;

/** What the cluster's watches and writes say in the log, with a bound on each line. */
function spokenHooks(
  { runtime, logger }: StartOperatorOptions,
  sync: FirstSync,
  opened: AsyncDisposableStack,
): SpokenHooks {
  const sampled = <K extends string>(message: LogMessage<K>) => {
    const line = createSampledMessage({ runtime, logger, message, perSecond: LINES_PER_SECOND });
    opened.defer(() => line.close());
    return line;
  };
  const evictions = sampled(evictionFailed);
  const chores = sampled(choreFailed);
  const leftOvers = sampled(leftOverKept);
  return {
    reflectorFailed: (resource, failure) => sync.failed(resource, failure),
    evictionFailed: (pod, err) => evictions.log({ pod, err }),
    choreFailed: (err) => chores.log({ err }),
    leftOverKept: (machine) => leftOvers.log({ machine }),
  };
}

function tokenPool(
  { runtime, logger, settings }: StartOperatorOptions,
  client: KubeClient,
  signal: AbortSignal,
): TokenPool | undefined {
  const { bootstrapToken } = settings;
  if (bootstrapToken === undefined) return undefined;
  const onFailure = (err: string): void => logger.event(tokenFailed, { err });
  return new TokenPool({ runtime, client, ...bootstrapToken, onFailure, signal });
}
