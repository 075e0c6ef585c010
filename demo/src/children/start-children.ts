// The processes of the demo with their command lines: what a person would type, with shorter waits
// than production has.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Runtime } from '@bigfleet/base';
import type { ProviderAddress } from '../fleet/provider-address.ts';
import type { ClusterAddress } from '../kube/cluster-addresses.ts';
import type { DemoOptions } from '../options.ts';
import type { ServedCluster } from '../operators/run-operators.ts';
import { HOST, PROVIDERS, type ProviderName, RACK_KEY, type ShardName } from '../places.ts';
import { ETCD_MEMBERS, etcdPorts, operatorPort, shardPorts } from '../ports/ports.ts';
import { shardsOf } from '../profiles.ts';
import { offeringsFile } from '../provider/shapes.ts';
import { Child } from './child.ts';

const providerScript = scriptOf('simulated-provider');
/** Whose clusters they are, by what runs there. */
const TEAMS = ['storefront=web-*', 'analytics=batch-*', 'research=train-*'];
const controlPlanesScript = scriptOf('control-planes');
const operatorsScript = scriptOf('operators');
/** Started, never loaded: the demo speaks to the shard over the wire only. */
const bigfleetScript = fileURLToPath(new URL('./main.ts', import.meta.resolve('@bigfleet/cli')));

/** Far below production's: a demonstration is watched. */
const HEARTBEAT_INTERVAL = '500ms';
const REBALANCE_INTERVAL = '2s';
/** So soon a slot of a lost zone is off the list. */
const PROVIDER_RECONCILE_INTERVAL = '2s';

export interface StartOptions extends Pick<DemoOptions, 'ports' | 'seed' | 'profile' | 'etcd'> {
  readonly runtime: Runtime;
  readonly provider: ProviderAddress;
  readonly clusters: readonly ClusterAddress[];
  /** For data and logs. */
  readonly dir: string;
}

/** The control planes of the demo's own clusters. */
export function startControlPlanes({ runtime, ports, profile, dir }: StartOptions): Child {
  const { clusters } = profile;
  return new Child({
    runtime,
    name: 'Kubernetes',
    command: script(
      controlPlanesScript,
      clusters.map((cluster) => `--cluster=${cluster}=${ports[cluster]}`),
    ),
    logFile: path.join(dir, 'control-planes.log'),
    readyUrls: clusters.map((cluster) => readyz(ports[cluster])),
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
    command: script(operatorsScript, args),
    logFile: path.join(dir, 'operators.log'),
    readyUrls: clusters.map(({ id }) => readyz(ports[operatorPort(id)])),
  });
}

/** Where a simulated provider is told to misbehave. */
export function providerSocket(dir: string, name: ProviderName): string {
  return path.join(dir, `${name}.sock`);
}

export function startProvider(name: ProviderName, options: StartOptions): Child {
  const { runtime, ports, seed, profile, provider, clusters, dir } = options;
  const files = clusters.map(({ id, kubeconfig }) => [id, kubeconfig] as const);
  const offerings = path.join(dir, `${name}.offerings.json`);
  writeFileSync(offerings, offeringsFile(name, profile.slotsPerBucket));
  const metrics = ports[`${name}-metrics`];
  return new Child({
    runtime,
    name,
    command: script(providerScript, [
      name,
      '--use-fake-backend',
      `--addr=${provider.listenHost}:${ports[name]}`,
      `--metrics-addr=${HOST}:${metrics}`,
      `--seed=${seed}`,
      `--offerings=${offerings}`,
      `--clusters=${JSON.stringify(Object.fromEntries(files))}`,
      `--control-socket=${providerSocket(dir, name)}`,
      `--reconcile-interval=${PROVIDER_RECONCILE_INTERVAL}`,
      '--failed-cleanup-after=3s',
      '--shutdown-grace=1s',
    ]),
    logFile: path.join(dir, `${name}.log`),
    readyUrls: [readyz(metrics)],
  });
}

/** Three members on loopback, with etcd's own timing. */
export function startEtcd(binary: string, { runtime, ports, dir }: StartOptions): readonly Child[] {
  const urls = ETCD_MEMBERS.map((member) => {
    const [client, peer] = etcdPorts(member);
    return {
      name: `etcd-${member}`,
      client: `http://${HOST}:${ports[client]}`,
      peer: `http://${HOST}:${ports[peer]}`,
    };
  });
  const peers = urls.map(({ name, peer }) => `${name}=${peer}`).join(',');
  return urls.map(
    ({ name, client, peer }) =>
      new Child({
        runtime,
        name,
        command: [
          binary,
          `--name=${name}`,
          `--data-dir=${path.join(dir, name)}`,
          `--listen-client-urls=${client}`,
          `--advertise-client-urls=${client}`,
          `--listen-peer-urls=${peer}`,
          `--initial-advertise-peer-urls=${peer}`,
          `--initial-cluster=${peers}`,
          '--initial-cluster-state=new',
          '--logger=zap',
          '--log-level=warn',
        ],
        logFile: path.join(dir, `${name}.log`),
        readyUrls: [`${client}/health`],
      }),
  );
}

export function startCoordinator({ runtime, ports, etcd, dir }: StartOptions): Child {
  const endpoints = ETCD_MEMBERS.map((member) => `http://${HOST}:${ports[etcdPorts(member)[0]]}`);
  return new Child({
    runtime,
    name: 'coordinator',
    command: script(bigfleetScript, [
      'coordinator',
      '--bootstrap',
      `--listen=${HOST}:${ports.coordinator}`,
      `--metrics-addr=${HOST}:${ports['coordinator-metrics']}`,
      `--data-dir=${path.join(dir, 'coordinator')}`,
      ...(etcd === undefined ? [] : [`--etcd-endpoints=${endpoints.join(',')}`]),
      `--rebalance-interval=${REBALANCE_INTERVAL}`,
      '--reflection',
    ]),
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
    command: script(bigfleetScript, [
      'shard',
      `--id=${shard}`,
      `--listen=${HOST}:${ports[listen]}`,
      `--metrics-addr=${HOST}:${ports[metrics]}`,
      ...PROVIDERS.map((name) => `--provider=${name}=${provider.dialHost}:${ports[name]}`),
      '--provider-shared',
      `--coordinator-addr=${HOST}:${ports.coordinator}`,
      `--coordinator-heartbeat-interval=${HEARTBEAT_INTERVAL}`,
      `--data-dir=${shardDir(dir, shard)}`,
      // The first one starts the threads: the summary would name that the worst cycle.
      '--metrics-warmup-cycles=1',
      '--reflection',
    ]),
    logFile: path.join(dir, `${shard}.log`),
    readyUrls: [readyz(ports[metrics])],
  });
}

/** Reads shards, coordinator, records and clusters; nothing waits for it. */
export function startDashboard(options: StartOptions): Child {
  const { runtime, ports, profile, clusters, dir } = options;
  const shards = shardsOf(profile);
  return new Child({
    runtime,
    name: 'dashboard',
    command: script(bigfleetScript, [
      'dashboard',
      `--listen=${HOST}:${ports.dashboard}`,
      ...shards.map((shard) => `--shard=${shard}=${HOST}:${ports[shardPorts[shard][0]]}`),
      `--coordinator=${HOST}:${ports.coordinator}`,
      ...shards.map((shard) => `--records-dir=${shard}=${recordsDir(dir, shard)}`),
      ...clusters.map(({ id, kubeconfig }) => `--kubeconfig=${id}=${kubeconfig}`),
      `--rack-label=${RACK_KEY}`,
      ...TEAMS.map((team) => `--team=${team}`),
      '--simulated',
    ]),
    logFile: path.join(dir, 'dashboard.log'),
    readyUrls: [readyz(ports.dashboard)],
  });
}

function recordsDir(dir: string, shard: ShardName): string {
  return path.join(shardDir(dir, shard), 'records');
}

function shardDir(dir: string, shard: ShardName): string {
  return path.join(dir, shard);
}

function scriptOf(name: string): string {
  return fileURLToPath(new URL(`../${name}.ts`, import.meta.url));
}

function script(file: string, args: readonly string[]): readonly [string, ...string[]] {
  return [process.execPath, file, ...args];
}

function readyz(port: number): string {
  return `http://${HOST}:${port}/readyz`;
}
