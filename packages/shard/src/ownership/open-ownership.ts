// Everything about ownership that exists before the shard runs: read from disk, so that a shard which
// restarts while nobody answers keeps its machines, its freezes and its providers.

import type { Runtime } from '@bigfleet/base';
import type { ShardCore } from '../core/shard-core.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { DemandLedger } from '../ledgers/demand-ledger.ts';
import type { Operators } from '../operators/operators.ts';
import type { Actuation } from '../rails/actuation.ts';
import type { DurableFile } from '../rails/durable-file.ts';
import { FleetKeeper } from './fleet-keeper.ts';
import { openOwnershipStore, type OwnershipFiles, type OwnershipStore } from './ownership-store.ts';
import { RegistryFollower, type RegistryFollowerOptions } from './registry-follower.ts';
import { Reservations } from './reservations.ts';

/** What a shard is given about ownership. */
export interface OwnershipOptions
  extends Pick<RegistryFollowerOptions, 'directory' | 'isSharedByFlag' | 'connect' | 'connected'> {
  readonly files: OwnershipFiles & { readonly providers: DurableFile };
}

export interface OwnershipSurroundings
  extends Pick<RegistryFollowerOptions, 'providers' | 'logger' | 'registry'> {
  /** Made later. */
  readonly fleet: () => Fleet;
}

export interface OpenOwnership extends Pick<OwnershipOptions, 'directory'> {
  readonly store: OwnershipStore;
  readonly reservations: Reservations;
  readonly keeper: FleetKeeper;
  readonly follower: RegistryFollower;
}

/** What a ShardControl works on: the running shard and what it owns. */
export interface ControlParts
  extends OpenOwnership,
    Pick<OwnershipSurroundings, 'providers' | 'logger'> {
  readonly shardId: string;
  readonly epoch: bigint;
  readonly runtime: Runtime;
  readonly core: Pick<ShardCore, 'fleet' | 'isFenced' | 'cycleCount' | 'wake' | 'offer'>;
  readonly host: Pick<EngineHost, 'priorities'>;
  readonly actuation: { readonly effective: Pick<Actuation['effective'], 'paused' | 'dryRun'> };
  readonly demand: Pick<DemandLedger, 'clusters'>;
  readonly operators: { readonly sessions: Pick<Operators['sessions'], 'all'> };
  /** Takes over background work; its rejection ends the process. */
  readonly supervise: (component: string, work: Promise<void>) => void;
}

/** Rejects when a file cannot be understood: the shard must not serve then. */
export async function openOwnership(
  options: OwnershipOptions,
  { fleet, ...surroundings }: OwnershipSurroundings,
): Promise<OpenOwnership> {
  const { files, directory } = options;
  const store = await openOwnershipStore(options);
  const reservations = new Reservations();
  const follower = new RegistryFollower({
    ...options,
    ...surroundings,
    file: files.providers,
    machineCountOf: (provider) => fleet().known.countOf(provider),
  });
  const keeper = new FleetKeeper({ store, reservations, directory, fleet });
  return { store, reservations, keeper, follower, directory };
}
