// Where the coordinators and the etcd members of a drill run: a host each, so that a coordinator can be
// cut from etcd on the one network while clients, peers and probes still reach it on the other.

import path from 'node:path';
import { type EtcdCluster, leasePort, type Partitions } from '../../toolkit/index.ts';
import { CoordinatorProcess } from './coordinator-process.ts';

export const ETCD_HOSTS: readonly string[] = ['etcd-0', 'etcd-1', 'etcd-2'];
const NODE_IDS: readonly string[] = ['coordinator-0', 'coordinator-1', 'coordinator-2'];
const CLIENTS_NETWORK = 'control';
export const ETCD_NETWORK = 'store';

/** Host name → its networks. A coordinator's own address is its first. */
export const HOSTS: Readonly<Record<string, readonly string[]>> = {
  ...networksOf(NODE_IDS, [CLIENTS_NETWORK, ETCD_NETWORK]),
  ...networksOf(ETCD_HOSTS, [ETCD_NETWORK]),
};

function networksOf(
  hosts: readonly string[],
  networks: readonly string[],
): Record<string, readonly string[]> {
  return Object.fromEntries(hosts.map((host) => [host, networks]));
}

export interface ReplicaPlanOptions {
  readonly folder: string;
  readonly partitions: Partitions;
  readonly etcd: EtcdCluster;
  readonly leaseTtlMs: number;
}

/** Not started yet; they and their ports last as long as the stack. */
export async function planReplicas(
  options: ReplicaPlanOptions,
  opening: AsyncDisposableStack,
): Promise<readonly CoordinatorProcess[]> {
  const { folder, partitions, leaseTtlMs } = options;
  const lease = async (): Promise<number> => opening.use(await leasePort()).port;
  let ports: readonly [number, number] | undefined;
  const replicas: CoordinatorProcess[] = [];
  for (const nodeId of NODE_IDS) {
    // Hosts with a network of their own share one pair: a name for all of them has one port.
    if (ports === undefined || partitions.backend === 'proxy') {
      ports = [await lease(), await lease()];
    }
    const [port, metricsPort] = ports;
    const endpoints = await endpointsFor(nodeId, options);
    const spec = {
      nodeId,
      place: partitions.place(nodeId),
      port,
      metricsPort,
      dataDir: path.join(folder, nodeId),
      argv: [
        '--bootstrap',
        `--etcd-endpoints=${endpoints.join()}`,
        `--leader-lease-ttl=${leaseTtlMs}ms`,
      ],
    };
    replicas.push(opening.use(new CoordinatorProcess(spec)));
  }
  return replicas;
}

async function endpointsFor(
  nodeId: string,
  { partitions, etcd }: ReplicaPlanOptions,
): Promise<readonly string[]> {
  const endpoints: string[] = [];
  for (const [at, host] of ETCD_HOSTS.entries()) {
    const { port } = new URL(etcd.member(at).endpoint.url);
    const dialled = await partitions.dial(nodeId, host, Number(port));
    endpoints.push(`http://${dialled.host}:${dialled.port}`);
  }
  return endpoints;
}
