// The provider registry, and which shards dial an entry by their own flags instead.

import { compareText } from '@bigfleet/base';
import type { ProviderEntry, ShardReportSnapshot } from '@bigfleet/wire';
import { defineKind, isOfShard, type Kind } from './kind.ts';

function providerRows(entries: readonly ProviderEntry[], reports: readonly ShardReportSnapshot[]) {
  return entries.map(({ name, address, region, declaredQuota, shards }) => ({
    name,
    address,
    region,
    /** 0: undeclared. */
    declaredQuota,
    /** Empty: every registered shard. */
    shards: [...shards].sort(compareText),
    /** Shards that dial a provider of this name because their flags say so. */
    byFlags: reports
      .filter(({ summary }) =>
        (summary?.providers ?? []).some((each) => each.name === name && each.source === 'flag'),
      )
      .map(({ shardId }) => shardId),
  }));
}

type ProviderRow = ReturnType<typeof providerRows>[number];

function shardsText({ shards, byFlags }: ProviderRow): string {
  const registered = shards.length === 0 ? ['all'] : shards.filter((id) => !byFlags.includes(id));
  return [...registered, ...byFlags.map((id) => `${id}(flags)`)].join(',');
}

export const providers: Kind = defineKind<ProviderRow>({
  plural: 'providers',
  columns: [
    { title: 'NAME', of: ({ name }) => name },
    { title: 'ADDRESS', of: ({ address }) => address },
    { title: 'REGION', of: ({ region }) => region },
    {
      title: 'DECLARED_QUOTA',
      of: ({ declaredQuota }) => (declaredQuota === 0 ? '' : String(declaredQuota)),
    },
    { title: 'SHARDS', of: shardsText },
  ],
  rows: async ({ links: { coordinator }, query }) => {
    const [{ providers: entries }, { reports }] = await Promise.all([
      coordinator.ask('list providers', (api, call) => api.coordinator.listProviders({}, call)),
      coordinator.ask('list shard reports', (api, call) =>
        api.coordinator.listShardReports({ shardId: '' }, call),
      ),
    ]);
    const rows = providerRows(entries, reports).filter(
      ({ shards, byFlags }) =>
        shards.length === 0 || [...shards, ...byFlags].some((shard) => isOfShard(query, shard)),
    );
    return { rows };
  },
  isNamed: ({ name }, given) => name === given,
});
