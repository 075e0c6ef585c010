// Quota slices, one row per provider, region and shard.

import { compareText } from '@bigfleet/base';
import type { QuotaAllocation } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';

export interface QuotaRow {
  readonly provider: string;
  readonly region: string;
  readonly shard: string;
  readonly slice: number;
}

export function quotaRows(allocations: readonly QuotaAllocation[]): QuotaRow[] {
  return allocations.flatMap(({ provider, region, perShard }) =>
    Object.entries(perShard)
      .sort(([a], [b]) => compareText(a, b))
      .map(([shard, slice]) => ({ provider, region, shard, slice })),
  );
}

export const quotaColumns: readonly Column<QuotaRow>[] = [
  { title: 'PROVIDER', of: ({ provider }) => provider },
  { title: 'REGION', of: ({ region }) => region },
  { title: 'SHARD', of: ({ shard }) => shard },
  { title: 'SLICE', of: ({ slice }) => String(slice) },
];
