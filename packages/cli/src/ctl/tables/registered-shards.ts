// Shards as the coordinator's registry knows them.

import type { ShardRegistryEntry } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';
import { utcTime } from '../output/texts.ts';

export interface RegisteredShard {
  readonly shard: string;
  readonly address: string;
  readonly registered: string | null;
  readonly lastHeartbeat: string | null;
}

export function registeredShard(entry: ShardRegistryEntry): RegisteredShard {
  return {
    shard: entry.shardId,
    address: entry.address,
    registered: utcTime(entry.registeredAtUnixNs) ?? null,
    lastHeartbeat: utcTime(entry.lastHeartbeatUnixNs) ?? null,
  };
}

export const registeredShardColumns: readonly Column<RegisteredShard>[] = [
  { title: 'SHARD', of: ({ shard }) => shard },
  { title: 'ADDRESS', of: ({ address }) => address },
  { title: 'REGISTERED', of: ({ registered }) => registered ?? '' },
  { title: 'LAST_HEARTBEAT', of: ({ lastHeartbeat }) => lastHeartbeat ?? '' },
];
