// The processes of the demo with their command lines: what a person would type, with shorter waits
// than production has.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '@bigfleet/base';
import type { ProviderAddress } from '../fleet/provider-address.ts';
import type { ClusterAddress } from '../kube/cluster-addresses.ts';
import type { DemoOptions } from '../options.ts';
import {
  CLUSTERS,
  HOST,
  operatorPort,
  type PortName,
  PROVIDER,
  type ShardName,
} from '../places.ts';
import type { ServedCluster } from '../operators/run-operators.ts';
import { slotCount } from '../provider/shapes.ts';
import { Child } from './child.ts';

const providerScript = scriptOf('simulated-provider');
const controlPlanesScript = scriptOf('control-planes');
const operatorsScript = scriptOf('operators');
/** Started, never loaded: the demo speaks to the shard over the wire only. */
const bigfleetScript = fileURLToPath(new URL('./main.ts', import.meta.resolve('@bigfleet/cli')));

/** Far below production's: a demonstration is watched. */
const HEARTBEAT_INTERVAL = '500ms';
const REBALANCE_INTERVAL = '2s';

/** For sessions, and for metrics. */
export const shardPorts: Readonly<Record<ShardName, readonly [PortName, PortName]>> = {
  'shard-0': ['shard', 'shard-metrics'],
  'shard-1': ['second-shard', 'second-shard-metrics'],
};

export interface StartOptions extends Pick<DemoOptions, 'ports' | 'seed'> {
  readonly runtime: Runtime;
  readonly provider: ProviderAddress;
  readonly clusters: readonly ClusterAddress[];
  /** For data and logs. */
  readonly dir: string;
}

/** The control planes of the demo's own clusters. */
export function startControlPlanes({ runtime, ports, dir }: StartOptions): Child {
  return new Child({
    runtime,
    name: 'Kubernetes',
    script: controlPlanesScript,
    args: CLUSTERS.map((cluster) => `--cluster=${cluster}=${ports[cluster]}`),
    logFile: path.join(dir, 'control-planes.log'),
    readyUrls: CLUSTERS.map((cluster) => readyz(ports[cluster])),
  });
}

/** Operator and pod controller of every cluster, in one process to spare memory. */
export function startOperators({ runtime, ports, clusters, dir }: StartOptions): Child {
  const args = clusters.map(({ id, shard, kubeconfig }) => {
    const shardAddress = `${HOST}:${ports[shardPorts[shard][0]]}`;
    const metricsAddress = `${HOST}:${ports[operatorPort(id)]}`;
    const templateFile = path.join(dir, `${id}.bootstrap.tmpl`);
    const served: ServedCluster = { id, kubeconfig, shardAddress, metricsAddress, templateFile };
    return `--cluster=${JSON.stringify(served)}`;
  });
  return new Child({
    runtime,
    name: 'operator host',
    script: operatorsScript,
    args,
    logFile: path.join(dir, 'operators.log'),
    readyUrls: clusters.map(({ id }) => readyz(ports[operatorPort(id)])),
  });
}

export function startProvider(options: StartOptions): Child {
  const { runtime, ports, seed, provider, clusters, dir } = options;
  const files = clusters.map(({ id, kubeconfig }) => [id, kubeconfig] as const);
  return new Child({
    runtime,
    name: 'provider',
    script: providerScript,
    args: [
      '--use-fake-backend',
      `--addr=${provider.listenHost}:${ports.provider}`,
      `--metrics-addr=${HOST}:${ports['provider-metrics']}`,
      `--seed=${seed}`,
      `--seed-count=${slotCount}`,
      `--clusters=${JSON.stringify(Object.fromEntries(files))}`,
      '--failed-cleanup-after=3s',
      '--shutdown-grace=1s',
    ],
    logFile: path.join(dir, 'provider.log'),
    readyUrls: [readyz(ports['provider-metrics'])],
  });
}

export function startCoordinator({ runtime, ports, dir }: StartOptions): Child {
  return new Child({
    runtime,
    name: 'coordinator',
    script: bigfleetScript,
    args: [
      'coordinator',
      '--bootstrap',
      `--listen=${HOST}:${ports.coordinator}`,
      `--metrics-addr=${HOST}:${ports['coordinator-metrics']}`,
      `--data-dir=${path.join(dir, 'coordinator')}`,
      `--rebalance-interval=${REBALANCE_INTERVAL}`,
      '--reflection',
    ],
    logFile: path.join(dir, 'coordinator.log'),
    readyUrls: [readyz(ports['coordinator-metrics'])],
  });
}

export function startShard(shard: ShardName, options: StartOptions): Child {
  const { runtime, ports, provider, dir } = options;
  const [listen, metrics] = shardPorts[shard];
  return new Child({
    runtime,
    name: shard,
    script: bigfleetScript,
    args: [
      'shard',
      `--id=${shard}`,
      `--listen=${HOST}:${ports[listen]}`,
      `--metrics-addr=${HOST}:${ports[metrics]}`,
      `--provider=${PROVIDER}=${provider.dialHost}:${ports.provider}`,
      '--provider-shared',
      `--coordinator-addr=${HOST}:${ports.coordinator}`,
      `--coordinator-heartbeat-interval=${HEARTBEAT_INTERVAL}`,
      `--data-dir=${path.join(dir, shard)}`,
      '--incremental-reconcile',
      // The first one starts the threads: the summary would name that the worst cycle.
      '--metrics-warmup-cycles=1',
      '--reflection',
    ],
    logFile: path.join(dir, `${shard}.log`),
    readyUrls: [readyz(ports[metrics])],
  });
}

function scriptOf(name: string): string {
  return fileURLToPath(new URL(`../${name}.ts`, import.meta.url));
}

function readyz(port: number): string {
  return `http://${HOST}:${port}/readyz`;
}
