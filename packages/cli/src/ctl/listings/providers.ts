// The provider registry.

import { tableReport } from '../output/report.ts';
import { type ProviderRow, providerColumns, providerRows } from '../tables/providers.ts';
import { isOfShard, limited, type Listing } from './listing.ts';

export const listProviders: Listing<ProviderRow> = async ({ links, query }) => {
  const [{ providers }, { reports }] = await Promise.all([
    links.coordinator.ask('list providers', (api, call) => api.coordinator.listProviders({}, call)),
    links.coordinator.ask('list shard reports', (api, call) =>
      api.coordinator.listShardReports({ shardId: '' }, call),
    ),
  ]);
  const rows = providerRows(providers, reports).filter(
    ({ shards, byFlags }) =>
      shards.length === 0 || [...shards, ...byFlags].some((shard) => isOfShard(query, shard)),
  );
  return tableReport({ columns: providerColumns, rows: limited(rows, query) });
};
