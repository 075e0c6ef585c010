// Where the demo's machines stand, as the workload catalogue names it. Spelt out here, because the
// provider's process must not load the simulator; a test keeps the two equal.

export const ZONES: readonly string[] = ['zone-a', 'zone-b', 'zone-c'];

/** The zones of each shard. The others, of which there are none, are the provider's home shard's. */
export const ZONES_OF_SHARD: Readonly<Record<ShardName, readonly string[]>> = {
  'shard-0': ['zone-a', 'zone-b'],
  'shard-1': ['zone-c'],
};

export type ShardName = 'shard-0' | 'shard-1';
export const SHARDS: readonly ShardName[] = ['shard-0', 'shard-1'];

/** Owned by the second shard and wanted by a cluster of the first: what is moved in the demo. */
export const METAL_TYPE = 'm7i.metal-24xl';
export const METAL_ZONE = 'zone-c';

/** The label that gangs stay together by. */
export const RACK_KEY = 'topology.bigfleet/rack';
