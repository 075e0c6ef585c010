// Moves of machines between shards; those under way, or all that are kept.

import { tableReport } from '../output/report.ts';
import { type TransferRow, transferColumns, transferRow } from '../tables/transfers.ts';
import { limited, type Listing, type ListQuery } from './listing.ts';

export function listTransfers(isWithClosed: boolean): Listing<TransferRow> {
  return async ({ links, query, nowUnixNanos }) => {
    const [only = '', ...others] = query.shards;
    const shardId = others.length === 0 ? only : '';
    const { transfers } = await links.coordinator.ask('list transfers', (api, call) =>
      api.admin.listTransfers({ shardId, includeClosed: isWithClosed }, call),
    );
    const rows = transfers
      .map((record) => transferRow(record, nowUnixNanos))
      .filter(({ from, to }) => isAsked(query, from, to));
    return tableReport({ columns: transferColumns, rows: limited(rows, query) });
  };
}

function isAsked({ shards }: ListQuery, from: string, to: string): boolean {
  return shards.length === 0 || shards.includes(from) || shards.includes(to);
}
