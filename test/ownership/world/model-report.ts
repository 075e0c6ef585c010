// What a model shard says of its disk in a report: its transfers and, when it is asked, what it holds
// and whom it knows, as the real one does (coordclient, wire/report.ts).

import { TransferRole, TransferState } from '@bigfleet/wire';
import { PROVIDER_ADDRESS } from './fleet-shard.ts';
import type { PlantedFault } from './planted-fault.ts';
import type { ShardDisk } from './shard-disk.ts';

const STATES = {
  frozen: TransferState.FROZEN,
  released: TransferState.RELEASED,
  claimed: TransferState.CLAIMED,
} as const;

interface StatusInit {
  transferId: string;
  role: TransferRole;
  state: TransferState;
  peerShardId: string;
  machineIds: string[];
}

interface DomainInit {
  topologyKey: string;
  topologyValue: string;
  shardId: string;
}

interface OverrideInit {
  machineId: string;
  transferId: string;
  peerShardId: string;
}

export function statusesOf(disk: ShardDisk): StatusInit[] {
  const statuses = [...disk.book].map(([transferId, { role, state, peer, machineIds }]) => ({
    transferId,
    role: role === 'donor' ? TransferRole.DONOR : TransferRole.RECIPIENT,
    state: STATES[state],
    peerShardId: peer,
    machineIds: [...machineIds],
  }));
  const gone = [...disk.gone].map(([machineId, { transferId, peer }]) => ({
    transferId,
    role: TransferRole.RECIPIENT,
    state: TransferState.GONE,
    peerShardId: peer,
    machineIds: [machineId],
  }));
  return [...statuses, ...gone];
}

/** What it adopted and is not gone, frozen or not. */
export function heldOverridesOf(disk: ShardDisk): OverrideInit[] {
  return [...disk.adopted]
    .filter(([id]) => !disk.gone.has(id))
    .map(([machineId, { transferId, peer }]) => ({ machineId, transferId, peerShardId: peer }));
}

interface HeldInit {
  heldDomains: DomainInit[];
  heldHomes: string[];
  knownShards: string[];
}

/** Its home, and the other shards that own something; in the form of its build. */
export function heldOthersOf(
  shardId: string,
  { isHome, others, book }: ShardDisk,
  { fault, isOldBuild }: { readonly fault: PlantedFault | undefined; readonly isOldBuild: boolean },
): HeldInit {
  const given = [...book.values()].filter(({ state }) => state !== 'claimed');
  const named = new Set([...others, ...given.map(({ peer }) => peer)]);
  const ids = [...named].filter((id) => id !== shardId && id !== '' && fault !== 'names-nobody');
  const homes = isHome && fault !== 'hides-its-home' ? [PROVIDER_ADDRESS] : [];
  if (!isOldBuild) return { heldDomains: [], heldHomes: homes, knownShards: ids };
  const heldDomains = [
    ...homes.map((address) => ({ topologyKey: '', topologyValue: address, shardId })),
    ...ids.map((id) => ({ topologyKey: '', topologyValue: '', shardId: id })),
  ];
  return { heldDomains, heldHomes: [], knownShards: [] };
}
