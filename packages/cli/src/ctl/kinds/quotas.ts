// How many elastic machines each shard may hold: one row per provider, region and shard.

import { compareText } from '@bigfleet/base';
import type { QuotaAllocation } from '@bigfleet/wire';
import { defineKind, fromCoordinator, isOfShard, type Kind } from './kind.ts';

function quotaRows(allocations: readonly QuotaAllocation[]) {
  return allocations.flatMap(({ provider, region, perShard }) =>
    Object.entries(perShard)
      .sort(([a], [b]) => compareText(a, b))
      .map(([shard, slice]) => ({ provider, region, shard, slice })),
  );
}

type QuotaRow = ReturnType<typeof quotaRows>[number];

export const quotas: Kind = defineKind<QuotaRow>({
  plural: 'quotas',
  columns: [
    { title: 'PROVIDER', of: ({ provider }) => provider },
    { title: 'REGION', of: ({ region }) => region },
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'SLICE', of: ({ slice }) => String(slice) },
  ],
  rows: fromCoordinator('list quotas', async ({ coordinator }, call, { query }) => {
    const { allocations } = await coordinator.listQuotas({}, call);
    return quotaRows(allocations).filter(({ shard }) => isOfShard(query, shard));
  }),
  isNamed: ({ provider, region }, name) => `${provider}/${region}` === name,
});
