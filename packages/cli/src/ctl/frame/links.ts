// What a verb can reach, made from its settings and closed with it: the coordinator's leader, the
// shards, a provider. Nothing is dialled before it is asked for.

import type { Runtime } from '@bigfleet/base';
import { TlsMaterial, tlsFromFlags } from '@bigfleet/wire';
import type { TargetSettings } from '../config/target-settings.ts';
import { Channels } from '../connect/channels.ts';
import { CoordinatorLink } from '../connect/coordinator.ts';
import { ProviderLink } from '../connect/provider.ts';
import { ShardLinks } from '../connect/shards.ts';
import type { CtlContext } from '../context.ts';

export interface Links {
  readonly coordinator: CoordinatorLink;
  readonly shards: ShardLinks;
  readonly provider: ProviderLink;
  readonly tls: TlsMaterial | undefined;
  readonly channels: Channels;
  close(): void;
}

export interface LinkSettings {
  readonly target: TargetSettings;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export function openLinks(context: CtlContext, settings: LinkSettings): Links {
  const { network, port } = context;
  const { target, timeoutMs, signal } = settings;
  const runtime: Runtime = context.runtime;
  const material = tlsFromFlags({ ...target.tls, env: port.env });
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
    channels,
    close: () => channels.close(),
  };
}
