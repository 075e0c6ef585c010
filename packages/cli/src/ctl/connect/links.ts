// What a verb can reach, made from its settings and closed with it: the coordinator's leader, the
// shards, a provider. Nothing is dialled before it is asked for.

import type { Runtime } from '@bigfleet/base';
import { TlsMaterial, tlsFromFlags } from '@bigfleet/wire';
import type { TargetSettings } from '../config/target-settings.ts';
import { CoordinatorLink } from './coordinator.ts';
import { Channels, type Network } from './network.ts';
import { ProviderLink } from './provider.ts';
import { ShardLinks } from './shards.ts';

export interface Links {
  readonly coordinator: CoordinatorLink;
  readonly shards: ShardLinks;
  readonly provider: ProviderLink;
  readonly tls: TlsMaterial | undefined;
  close(): void;
}

export interface LinkSettings {
  readonly runtime: Runtime;
  readonly network: Network;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly target: TargetSettings;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export function openLinks(settings: LinkSettings): Links {
  const { runtime, network, env, target, timeoutMs, signal } = settings;
  const material = tlsFromFlags({ ...target.tls, env });
  const tls = material instanceof TlsMaterial ? material : undefined;
  const channels = new Channels(network);
  const shared = { runtime, channels, tls, timeoutMs, signal };
  const addresses = target.coordinator.split(',').filter((address) => address !== '');
  const coordinator = new CoordinatorLink({ ...shared, network, addresses });
  return {
    coordinator,
    shards: new ShardLinks({ ...shared, coordinator }),
    provider: new ProviderLink(shared),
    tls,
    close: () => channels.close(),
  };
}
