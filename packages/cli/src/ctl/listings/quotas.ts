// How many elastic machines each shard may hold.

import { tableReport } from '../output/report.ts';
import { type QuotaRow, quotaColumns, quotaRows } from '../tables/quotas.ts';
import { isOfShard, limited, type Listing } from './listing.ts';

export const listQuotas: Listing<QuotaRow> = async ({ links, query }) => {
  const { allocations } = await links.coordinator.ask('list quotas', (api, call) =>
    api.coordinator.listQuotas({}, call),
  );
  const rows = quotaRows(allocations).filter(({ shard }) => isOfShard(query, shard));
  return tableReport({ columns: quotaColumns, rows: limited(rows, query) });
};
