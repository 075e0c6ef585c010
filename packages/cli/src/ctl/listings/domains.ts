// Which shard owns which domain.

import { tableReport } from '../output/report.ts';
import { type DomainRow, domainColumns, domainRow } from '../tables/domains.ts';
import { isOfShard, limited, type Listing } from './listing.ts';

export const listDomains: Listing<DomainRow> = async ({ links, query }) => {
  const { assignments } = await links.coordinator.ask('list domain assignments', (api, call) =>
    api.coordinator.listDomainAssignments({}, call),
  );
  const rows = assignments.map(domainRow).filter(({ shard }) => isOfShard(query, shard));
  return tableReport({ columns: domainColumns, rows: limited(rows, query) });
};
