// The ports of the demo: those of the specification, a variable of `make up` for each, and which of them a
// run uses.

import {
  ALL_CLUSTERS,
  type ClusterName,
  JOINED,
  PROVIDERS,
  type ProviderName,
  type ShardName,
} from '../places.ts';
import { type Profile, shardsOf } from '../profiles.ts';

type EtcdMember = 0 | 1 | 2;
export const ETCD_MEMBERS: readonly EtcdMember[] = [0, 1, 2];

export type PortName =
  | 'dashboard'
  | 'shard'
  | 'shard-metrics'
  | 'second-shard'
  | 'second-shard-metrics'
  | 'coordinator'
  | 'coordinator-metrics'
  | ProviderName
  | `${ProviderName}-metrics`
  | ClusterName
  | `${ClusterName | typeof JOINED}-operator`
  | `etcd-${EtcdMember}`
  | `etcd-${EtcdMember}-peer`;
export type Ports = Readonly<Record<PortName, number>>;

export const defaultPorts: Ports = {
  dashboard: 8760,
  shard: 7780,
  'shard-metrics': 8780,
  'second-shard': 7781,
  'second-shard-metrics': 8781,
  coordinator: 7790,
  'coordinator-metrics': 8790,
  'sim-north': 9000,
  'sim-north-metrics': 9090,
  'sim-metal': 9001,
  'sim-metal-metrics': 9091,
  'web-eu': 16443,
  'batch-us': 16444,
  'train-us': 16445,
  'web-us': 16446,
  'batch-eu': 16447,
  'web-ap': 16448,
  'batch-ap': 16449,
  'web-sa': 16450,
  'web-eu-operator': 8770,
  'batch-us-operator': 8771,
  'train-us-operator': 8772,
  'joined-operator': 8773,
  'web-us-operator': 8774,
  'batch-eu-operator': 8775,
  'web-ap-operator': 8776,
  'batch-ap-operator': 8777,
  'web-sa-operator': 8778,
  'etcd-0': 12379,
  'etcd-0-peer': 12380,
  'etcd-1': 22379,
  'etcd-1-peer': 22380,
  'etcd-2': 32379,
  'etcd-2-peer': 32380,
};

export const portNames: readonly PortName[] = Object.keys(defaultPorts) as PortName[];

/** For sessions, and for metrics. */
export const shardPorts: Readonly<Record<ShardName, readonly [PortName, PortName]>> = {
  'shard-0': ['shard', 'shard-metrics'],
  'shard-1': ['second-shard', 'second-shard-metrics'],
};

/** Where the metrics and probes of a cluster's operator are. */
export function operatorPort(cluster: ClusterName | typeof JOINED): PortName {
  return `${cluster}-operator`;
}

export function etcdPorts(member: EtcdMember): readonly [client: PortName, peer: PortName] {
  return [`etcd-${member}`, `etcd-${member}-peer`];
}

export interface PortUse {
  readonly profile: Profile;
  readonly hasEtcd: boolean;
  readonly hasJoined: boolean;
}

/** Those that a run opens, in the order of the table above. */
export function usedPorts({ profile, hasEtcd, hasJoined }: PortUse): readonly PortName[] {
  const { clusters } = profile;
  const used = new Set<PortName>([
    'dashboard',
    'coordinator',
    'coordinator-metrics',
    ...shardsOf(profile).flatMap((shard) => shardPorts[shard]),
    ...PROVIDERS.flatMap((name) => [name, `${name}-metrics`] as const),
    ...ALL_CLUSTERS.filter((name) => clusters.includes(name)),
    ...clusters.map(operatorPort),
    ...(hasJoined ? [operatorPort(JOINED)] : []),
    ...(hasEtcd ? ETCD_MEMBERS.flatMap(etcdPorts) : []),
  ]);
  return portNames.filter((name) => used.has(name));
}

/** The variable of `make up` that changes it. */
export function portVariable(name: PortName): string {
  return `${name.replaceAll('-', '_').toUpperCase()}_PORT`;
}
