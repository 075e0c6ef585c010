// A quota row as readers see it: without the slices of shards that are gone. A row without any live
// slice is absent, as if its last slice had been removed by hand.

import type { QuotaRow, ShardRow } from './rows.ts';

export function liveQuota(
  row: QuotaRow | undefined,
  shard: (id: string) => ShardRow | undefined,
): QuotaRow | undefined {
  if (row === undefined) return undefined;
  const slices = row.slices.filter(({ shardId, shardUid }) => shard(shardId)?.uid === shardUid);
  if (slices.length === 0) return undefined;
  return slices.length === row.slices.length ? row : { ...row, slices };
}
