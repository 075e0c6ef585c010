// What a verb can reach, made from its settings and closed with it: the coordinator's leader, the
// shards, a provider. Nothing is dialled before it is asked for.

import type { ProcessPort } from '@bigfleet/process';
import { TlsMaterial, tlsFromFlags } from '@bigfleet/wire';
import type { TargetSettings } from '../config/target-settings.ts';
import { CoordinatorLink } from './coordinator.ts';
import { Channels, type LinkOptions, type Network } from './network.ts';
import { ProviderLink } from './provider.ts';
import { ShardLinks } from './shards.ts';

export interface LinkSettings extends Omit<LinkOptions, 'channels' | 'tls'> {
  readonly network: Network;
  readonly env: ProcessPort['env'];
  readonly target: TargetSettings;
}

export type Links = ReturnType<typeof openLinks>;

export function openLinks(settings: LinkSettings) {
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
    close: (): void => channels.close(),
  };
}
