// `bigfleet-operator` and `bigfleet-unschedulable-pod-controller` of every cluster of the demo. They are the
// real ones, over the network, and differ from production in two things: they share one process, because
// eight would cost more memory than everything else, and they report every second, because somebody
// watches.

import { writeFileSync } from 'node:fs';
import { BigFleetError, type ClusterId, type Runtime } from '@bigfleet/base';
import { JOIN_TEMPLATE } from '@bigfleet/kube/testing';
import { type OperatorSettings, startOperator } from '@bigfleet/operator';
import { type PodControllerSettings, startPodController } from '@bigfleet/pod-controller';
import {
  createLogger,
  createRegistry,
  type ListenAddress,
  type Logger,
  parseListenAddress,
  stderrSink,
} from '@bigfleet/telemetry';

export interface ServedCluster {
  readonly id: string;
  readonly kubeconfig: string;
  readonly shardAddress: string;
  readonly metricsAddress: string;
  /** The operator reads its bootstrap template here. */
  readonly templateFile: string;
}

interface Running {
  readonly failed: Promise<Error>;
  stop(): Promise<void>;
}

const ROLLUP_INTERVAL_MS = 1_000;
const QPS = 200;
const BURST = 400;
const BUILD = { version: 'demo', revision: 'unknown' };
const STOP_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** `args`: `--cluster=` and a ServedCluster as JSON, for each. Until a signal; 1 after a bug. */
export async function runOperators(runtime: Runtime, args: readonly string[]): Promise<number> {
  const { promise: stopped, resolve: stop } = Promise.withResolvers<undefined>();
  for (const signal of STOP_SIGNALS) process.on(signal, () => stop(undefined));
  const sink = stderrSink({ timers: runtime.timers, registry: createRegistry() });
  const logger = createLogger({ clock: runtime.clock, sink });
  const clusters = args.map(servedCluster);
  const running = (
    await Promise.all(clusters.map((cluster) => startCluster(runtime, logger, cluster)))
  ).flat();
  const bug = await Promise.race([stopped, ...running.map(({ failed }) => failed)]);
  if (bug !== undefined) logger.error('failed', { err: bug });
  await Promise.all(running.map((one) => one.stop()));
  return bug === undefined ? 0 : 1;
}

function servedCluster(arg: string): ServedCluster {
  const flag = '--cluster=';
  if (!arg.startsWith(flag)) throw new BigFleetError('flag_invalid', `${arg}: expected ${flag}`);
  return JSON.parse(arg.slice(flag.length)) as ServedCluster;
}

async function startCluster(
  runtime: Runtime,
  all: Logger,
  cluster: ServedCluster,
): Promise<readonly Running[]> {
  const logger = all.child({ cluster: cluster.id });
  writeFileSync(cluster.templateFile, JOIN_TEMPLATE);
  const controller = await startPodController({
    runtime,
    logger,
    registry: createRegistry(),
    settings: controllerSettings(cluster),
    env: {},
  });
  const operator = await startOperator({
    runtime,
    logger: all,
    registry: createRegistry(),
    settings: operatorSettings(cluster),
    env: {},
  });
  return [operator, controller];
}

function operatorSettings(cluster: ServedCluster): OperatorSettings {
  const { id, kubeconfig, shardAddress, metricsAddress, templateFile } = cluster;
  return {
    clusterId: id as ClusterId,
    shardAddress,
    kubeconfig,
    metricsAddress: listenAddress(metricsAddress),
    qps: QPS,
    burst: BURST,
    acknowledgeConcurrency: 16,
    rollupIntervalMs: ROLLUP_INTERVAL_MS,
    bootstrapTemplateFile: templateFile,
    bootstrapAllowedKeys: new Set(),
    apiServerEndpoint: '',
    bootstrapToken: undefined,
    lease: undefined,
    tls: { cert: '', key: '', ca: '', requireTls: false },
    shardId: '',
    shardServerName: '',
    traceSamples: '',
    hasDebugEndpoints: false,
    build: BUILD,
  };
}

function controllerSettings({ kubeconfig }: ServedCluster): PodControllerSettings {
  return {
    kubeconfig,
    metricsAddress: { kind: 'disabled' },
    qps: QPS,
    burst: BURST,
    classDefaultsFile: '',
    daemonSetPods: 'count',
    excludedNamespaces: new Set(),
    requireTls: false,
    traceSamples: '',
    hasDebugEndpoints: false,
    build: BUILD,
  };
}

function listenAddress(text: string): ListenAddress {
  const parsed = parseListenAddress(text);
  if (parsed.ok) return parsed.value;
  throw new BigFleetError('flag_invalid', parsed.error);
}
