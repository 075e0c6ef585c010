// The sizes in which the demo runs: `make up PROFILE=…`. Everything that differs between them is here;
// memory is what all processes took together when it was measured (demo/README.md).

import {
  ALL_CLUSTERS,
  CLUSTER_PLACES,
  type ClusterName,
  SHARD_OF_JOINED,
  type ShardName,
  ZONES,
} from './places.ts';

export interface Profile {
  readonly name: ProfileName;
  readonly clusters: readonly ClusterName[];
  /** Zones of each shard; together they are all zones. */
  readonly zonesOfShard: Readonly<Partial<Record<ShardName, readonly string[]>>>;
  /** Machines of one type, zone and capacity type that can be bought of the cloud. */
  readonly slotsPerBucket: number;
}

export const PROFILE_NAMES = ['tiny', 'small', 'large'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];
export const DEFAULT_PROFILE: ProfileName = 'small';

const TWO_SHARDS = { 'shard-0': ['zone-a', 'zone-b'], 'shard-1': ['zone-c'] };

export const profiles: Readonly<Record<ProfileName, Profile>> = {
  tiny: {
    name: 'tiny',
    clusters: ['web-eu'],
    zonesOfShard: { 'shard-0': ZONES },
    slotsPerBucket: 12,
  },
  small: {
    name: 'small',
    clusters: ['web-eu', 'batch-us', 'train-us'],
    zonesOfShard: TWO_SHARDS,
    slotsPerBucket: 12,
  },
  large: {
    name: 'large',
    clusters: ALL_CLUSTERS,
    zonesOfShard: TWO_SHARDS,
    slotsPerBucket: 60,
  },
};

export function shardsOf({ zonesOfShard }: Profile): readonly ShardName[] {
  return Object.keys(zonesOfShard) as ShardName[];
}

/** A profile with one shard has it for all. */
export function shardOfCluster(profile: Profile, cluster: ClusterName): ShardName {
  const { shard } = CLUSTER_PLACES[cluster];
  return profile.zonesOfShard[shard] === undefined ? SHARD_OF_JOINED : shard;
}

/** Bare metal moves from the shard that owns it to the one whose cluster trains on it. */
export function hasMove({ clusters }: Profile): boolean {
  return clusters.includes('train-us');
}

export function isProfileName(text: string): text is ProfileName {
  return (PROFILE_NAMES as readonly string[]).includes(text);
}
