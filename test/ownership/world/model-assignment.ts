// Overrides of an assignment as a model shard keeps them: by machine, and as entries of its book.

import type { ShardAssignment } from '@bigfleet/wire';
import type { BookEntry, Given } from './shard-disk.ts';

type Overrides = ShardAssignment['adopted'];

export function givenBy(overrides: Overrides): ReadonlyMap<string, Given> {
  return new Map(
    overrides.map(({ machineId, transferId, peerShardId }) => [
      machineId,
      { transferId, peer: peerShardId },
    ]),
  );
}

export function entriesOf(overrides: Overrides, role: BookEntry['role']): Map<string, BookEntry> {
  const entries = new Map<string, BookEntry>();
  for (const { transferId, machineId, peerShardId } of overrides) {
    const before = entries.get(transferId)?.machineIds ?? [];
    const state = role === 'donor' ? 'released' : 'claimed';
    const machineIds = [...before, machineId];
    entries.set(transferId, { role, state, peer: peerShardId, machineIds });
  }
  return entries;
}

export function mergedWith(known: BookEntry | undefined, entry: BookEntry): BookEntry {
  if (known?.state !== 'claimed') return entry;
  return { ...entry, machineIds: [...new Set([...known.machineIds, ...entry.machineIds])] };
}
