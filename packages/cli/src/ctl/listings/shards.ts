// Shards with what each says about itself. Without a coordinator, by address, the registry's columns
// stay empty.

import type { ShardRegistryEntry } from '@bigfleet/wire';
import { tableReport } from '../output/report.ts';
import { type ShardRow, shardColumns, shardRow } from '../tables/shards.ts';
import { exitCodeOf, isOfShard, limited, type ListAsk, type Listing } from './listing.ts';

type Entry = Parameters<typeof shardRow>[0];

export const listShardStatuses: Listing<ShardRow> = async (ask) => {
  const { links, query, nowUnixNanos } = ask;
  const entries = limited(await entriesOf(ask), query);
  const targets = entries.map(({ shardId, address }) => ({ id: shardId, address }));
  const asked = await links.shards.askAll(targets, 'get shard status', (api, call) =>
    api.query.getShardStatus({}, call),
  );
  const rows = entries.map((entry) => {
    const answer = asked.answers.find(
      ({ shard }) => shard.id === entry.shardId && shard.address === entry.address,
    );
    return shardRow(entry, answer?.value, nowUnixNanos);
  });
  const { problems } = asked;
  return tableReport({ columns: shardColumns, rows, problems, exitCode: exitCodeOf(asked) });
};

async function entriesOf({ links, query }: ListAsk): Promise<readonly Entry[]> {
  const never = { registeredAtUnixNs: 0n, lastHeartbeatUnixNs: 0n };
  if (query.addresses.length > 0) {
    return query.addresses.map((address) => ({ shardId: '', address, ...never }));
  }
  // An unknown id is an error here as everywhere.
  if (query.shards.length > 0) await links.shards.find({ ids: query.shards, addresses: [] });
  const { shards } = await links.coordinator.ask('list shards', (api, call) =>
    api.coordinator.listShards({}, call),
  );
  return shards.filter(({ shardId }: ShardRegistryEntry) => isOfShard(query, shardId));
}
