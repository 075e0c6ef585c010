// Where everything of the demo is: regions and zones of its machines, its shards, clusters and providers.
// The zones are spelt as the workload catalogue spells them, and spelt out here, because a provider's
// process must not load the simulator; a test keeps the two equal.

export const HOST = '127.0.0.1';

export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];

const REGION_OF_ZONE: Readonly<Record<string, string>> = {
  'zone-a': 'north-1',
  'zone-b': 'north-1',
  'zone-c': 'north-2',
};

export function regionOf(zone: string): string {
  return REGION_OF_ZONE[zone] ?? '';
}

export type ShardName = 'shard-0' | 'shard-1';

/** What runs in a cluster; `clusters/plans.ts` says it in full. */
export type ClusterTaste = 'web' | 'batch' | 'train';

interface ClusterPlace {
  readonly shard: ShardName;
  readonly taste: ClusterTaste;
}

/** Each has a control plane of its own. Which of them run is the profile's choice. */
export type ClusterName =
  | 'web-eu'
  | 'batch-us'
  | 'train-us'
  | 'web-us'
  | 'batch-eu'
  | 'web-ap'
  | 'batch-ap'
  | 'web-sa';

export const CLUSTER_PLACES: Readonly<Record<ClusterName, ClusterPlace>> = {
  'web-eu': { shard: 'shard-0', taste: 'web' },
  'batch-us': { shard: 'shard-1', taste: 'batch' },
  'train-us': { shard: 'shard-0', taste: 'train' },
  'web-us': { shard: 'shard-1', taste: 'web' },
  'batch-eu': { shard: 'shard-0', taste: 'batch' },
  'web-ap': { shard: 'shard-0', taste: 'web' },
  'batch-ap': { shard: 'shard-1', taste: 'batch' },
  'web-sa': { shard: 'shard-1', taste: 'web' },
};

export const ALL_CLUSTERS: readonly ClusterName[] = Object.keys(CLUSTER_PLACES) as ClusterName[];

/** The cluster that somebody brings along with `make up KUBECONFIG=…`, and its shard. */
export const JOINED = 'joined';
export const SHARD_OF_JOINED: ShardName = 'shard-0';

/** Owned by the second shard and wanted by a cluster of the first: what is moved in the demo. */
export const METAL_TYPE = 'm7i.metal-24xl';
export const METAL_ZONE = 'zone-c';

/** Labels of the providers: the ids of their machines begin with them, and say that they are simulated. */
export type ProviderName = 'sim-north' | 'sim-metal';
export const PROVIDERS: readonly ProviderName[] = ['sim-north', 'sim-metal'];

export function isSimulated(machineId: string): boolean {
  return PROVIDERS.some((name) => machineId.startsWith(`${name}/`));
}

/** Of a machine: its id begins with it. */
export function providerOf(machineId: string): string {
  return machineId.slice(0, machineId.indexOf('/'));
}

const PROVIDER_ID_SCHEME = 'simulated://';

/** `spec.providerID` of a machine's Node. */
export function providerIdOf(machineId: string): string {
  return `${PROVIDER_ID_SCHEME}${machineId}`;
}

export function isSimulatedNode(providerId: string): boolean {
  return providerId.startsWith(PROVIDER_ID_SCHEME);
}

export const REGION_KEY = 'topology.kubernetes.io/region';
/** The label that gangs stay together by. */
export const RACK_KEY = 'topology.bigfleet/rack';

/** What a person may ask of the simulated providers. */
export const DISTURBANCE_LIMITS: Readonly<
  Record<'forMs' | 'spotFactor', { readonly min: number; readonly max: number }>
> = {
  forMs: { min: 1_000, max: 3_600_000 },
  spotFactor: { min: 0.1, max: 100 },
};
