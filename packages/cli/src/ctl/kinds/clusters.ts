// Which shard serves which cluster, and which other shard serves it too.

import { ok } from '@bigfleet/base';
import type { ClusterBinding } from '@bigfleet/wire';
import { utcTime } from '../output/text.ts';
import { defineKind, fromCoordinator, isOfCluster, isOfShard, type Kind, onlyOne } from './kind.ts';

function clusterRow(binding: ClusterBinding) {
  return {
    cluster: binding.clusterId,
    shard: binding.shardId,
    bound: utcTime(binding.boundAtUnixNs) ?? null,
    /** The other shard that serves it too; empty without one. */
    conflict: binding.conflictingShardId,
  };
}

type ClusterRow = ReturnType<typeof clusterRow>;

export const clusters: Kind = defineKind<ClusterRow>({
  plural: 'clusters',
  columns: [
    { title: 'CLUSTER', of: ({ cluster }) => cluster },
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'BOUND', of: ({ bound }) => bound ?? '' },
    { title: 'CONFLICT', of: ({ conflict }) => conflict, tone: () => 'bad' },
  ],
  filters: ['cluster'],
  rows: fromCoordinator('list cluster bindings', async ({ admin }, call, { query }) => {
    const request = { shardId: onlyOne(query.shards) };
    const { bindings } = await admin.listClusterBindings(request, call);
    return bindings
      .map(clusterRow)
      .filter(({ cluster, shard }) => isOfShard(query, shard) && isOfCluster(query, cluster));
  }),
  narrow: (name) => ok({ clusters: [name] }),
  isNamed: ({ cluster }, name) => cluster === name,
});
