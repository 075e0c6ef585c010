// Which registered shards a registry entry is for (coordinator §7.5), and whether it is shared by
// them. Ids that the entry names and that are not registered do not count: an entry becomes shared
// when its second shard really is there.

import { isHostLocal } from '../reports/dialled-providers.ts';
import type { FleetView } from '../state/fleet-view.ts';
import type { ProviderRow } from '../state/rows.ts';

export function reaches(entry: ProviderRow, shardId: string): boolean {
  return entry.shards.length === 0 || entry.shards.includes(shardId);
}

export function reachedShards(view: FleetView, entry: ProviderRow): readonly string[] {
  if (entry.shards.length === 0) return view.shards().map(({ id }) => id);
  return entry.shards.filter((id) => view.shard(id) !== undefined);
}

/** Two entries of one address are one provider: the shards of both share it. */
export function isSharedEntry(view: FleetView, entry: ProviderRow): boolean {
  return !isHostLocal(entry.address) && shardsOfAddress(view, entry.address).size > 1;
}

export function shardsOfAddress(view: FleetView, address: string): ReadonlySet<string> {
  const entries = view.providers().filter((entry) => entry.address === address);
  return new Set(entries.flatMap((entry) => reachedShards(view, entry)));
}
