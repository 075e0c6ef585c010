// Which shard serves which cluster.

import { tableReport } from '../output/report.ts';
import { type ClusterRow, clusterColumns, clusterRow } from '../tables/cluster-bindings.ts';
import { isOfCluster, isOfShard, limited, type Listing } from './listing.ts';

export const listClusters: Listing<ClusterRow> = async ({ links, query }) => {
  const [only = '', ...others] = query.shards;
  const { bindings } = await links.coordinator.ask('list cluster bindings', (api, call) =>
    api.admin.listClusterBindings({ shardId: others.length === 0 ? only : '' }, call),
  );
  const rows = bindings
    .map(clusterRow)
    .filter(({ cluster, shard }) => isOfShard(query, shard) && isOfCluster(query, cluster));
  return tableReport({ columns: clusterColumns, rows: limited(rows, query) });
};
