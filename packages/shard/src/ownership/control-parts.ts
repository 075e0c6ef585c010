// What the orders of a ShardControl work on: the running shard and what it owns.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { ShardCore } from '../core/shard-core.ts';
import type { EngineHost } from '../engine-host/engine-host.ts';
import type { DemandLedger } from '../ledgers/demand-ledger.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { Actuation } from '../rails/actuation.ts';
import type { Operators } from '../operators/operators.ts';
import type { FleetKeeper } from './fleet-keeper.ts';
import type { OwnershipStore } from './ownership-store.ts';
import type { ProviderDirectory } from './provider-directory.ts';
import type { RegistryFollower } from './registry-follower.ts';
import type { Reservations } from './reservations.ts';

export interface ControlParts {
  readonly shardId: string;
  readonly epoch: bigint;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly core: Pick<ShardCore, 'fleet' | 'isFenced' | 'cycleCount' | 'wake' | 'offer'>;
  readonly host: Pick<EngineHost, 'priorities'>;
  readonly providers: ProviderSet;
  readonly actuation: { readonly effective: Pick<Actuation['effective'], 'paused' | 'dryRun'> };
  readonly demand: Pick<DemandLedger, 'clusters'>;
  readonly operators: { readonly sessions: Pick<Operators['sessions'], 'all'> };
  readonly store: OwnershipStore;
  readonly keeper: FleetKeeper;
  readonly reservations: Reservations;
  readonly directory: ProviderDirectory;
  readonly follower: RegistryFollower;
  /** Takes over background work; its rejection ends the process. */
  readonly supervise: (component: string, work: Promise<void>) => void;
}
