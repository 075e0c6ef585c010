// Shortfalls of all shards: the whole ledgers, not the hundred rows that are reported.

import type { CallOptions, ShortfallView } from '@bigfleet/wire';
import type { ShardApi } from '../connect/shards.ts';
import { type ShortfallRow, shortfallColumns, shortfallRow } from '../tables/shortfalls.ts';
import { listFromShards, shardLabel } from './from-shards.ts';
import type { Listing, ListQuery } from './listing.ts';

export const listShortfalls: Listing<ShortfallRow> = (ask) =>
  listFromShards(ask, {
    feature: 'list shortfalls',
    columns: shortfallColumns,
    work: (api, call) => fetchShortfalls(api, call, ask.query),
    rowsOf: ({ shard, value }) => value.map((view) => shortfallRow(view, shardLabel(shard))),
  });

/** One cluster is the server's question, several are ours. */
async function fetchShortfalls(
  api: ShardApi,
  call: CallOptions,
  { clusters, limit }: ListQuery,
): Promise<readonly ShortfallView[]> {
  const [only = '', ...others] = clusters;
  const isOne = others.length === 0;
  const request = { clusterId: isOne ? only : '', limit: isOne ? limit : 0 };
  const views: ShortfallView[] = [];
  for await (const view of api.query.listShortfalls(request, call)) {
    if (isOne || view.clusterIds.some((id) => clusters.includes(id))) views.push(view);
  }
  return views;
}
