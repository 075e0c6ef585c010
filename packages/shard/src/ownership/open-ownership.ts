// Everything about ownership that exists before the shard runs: read from disk, so that a shard which
// restarts while nobody answers keeps its machines, its freezes and its providers.

import type { Logger, MetricRegistry } from '@bigfleet/telemetry';
import type { Fleet } from '../fleet/fleet.ts';
import type { ProviderSet } from '../provider/provider-set.ts';
import type { DurableFile } from '../rails/durable-file.ts';
import { FleetKeeper } from './fleet-keeper.ts';
import { openOwnershipStore, type OwnershipFiles, type OwnershipStore } from './ownership-store.ts';
import type { ProviderDirectory } from './provider-directory.ts';
import {
  type ConnectedProvider,
  type ConnectProvider,
  RegistryFollower,
} from './registry-follower.ts';
import { Reservations } from './reservations.ts';

/** What a shard is given about ownership. */
export interface OwnershipOptions {
  readonly files: OwnershipFiles & { readonly providers: DurableFile };
  /** Describes the providers that the shard starts with. */
  readonly directory: ProviderDirectory;
  /** Every provider is shared, whatever the registry says. */
  readonly isSharedByFlag: boolean;
  /** Undefined when flags, or a fake, are the whole set. */
  readonly connect: ConnectProvider | undefined;
  readonly connected: Iterable<readonly [string, Pick<ConnectedProvider, 'close'>]>;
}

export interface OpenOwnership {
  readonly store: OwnershipStore;
  readonly reservations: Reservations;
  readonly keeper: FleetKeeper;
  readonly follower: RegistryFollower;
  readonly directory: ProviderDirectory;
}

export interface OwnershipSurroundings {
  readonly providers: ProviderSet;
  readonly logger: Logger;
  readonly registry: MetricRegistry;
  /** Made later. */
  readonly fleet: () => Fleet;
}

/** Rejects when a file cannot be understood: the shard must not serve then. */
export async function openOwnership(
  options: OwnershipOptions,
  { providers, logger, registry, fleet }: OwnershipSurroundings,
): Promise<OpenOwnership> {
  const { files, directory, isSharedByFlag, connect, connected } = options;
  const store = await openOwnershipStore({
    files,
    factsOf: (name) => directory.get(name),
    hasShared: () => directory.hasShared,
  });
  const reservations = new Reservations();
  return {
    store,
    reservations,
    keeper: new FleetKeeper({ store, reservations, directory, fleet }),
    follower: new RegistryFollower({
      providers,
      directory,
      file: files.providers,
      connect,
      connected,
      isSharedByFlag,
      logger,
      registry,
      inventory: () => fleet().inventory,
    }),
    directory,
  };
}
