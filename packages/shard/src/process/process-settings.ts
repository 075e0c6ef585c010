// Everything that `bigfleet shard` was told on its command line, as values: parsed and checked by
// whoever parsed it, so that the process itself knows no flag.

import type { ListenAddress } from '@bigfleet/telemetry';
import type { Keepalive } from '@bigfleet/wire';
import type { FakeSettings } from '../testing/fake-fleet.ts';
import type { ShardSettings } from './shard-options.ts';
import type { ProviderTarget } from '../ownership/provider-targets.ts';

export interface ProcessSettings {
  readonly shardId: string;
  readonly listen: string;
  readonly metricsAddress: ListenAddress;
  readonly dataDir: string;
  readonly providers: ProviderChoice;
  /** Other shards dial the same providers: ownership is by assignment. */
  readonly isProviderShared: boolean;
  /** Of every connection to a provider, from whichever thread. */
  readonly providerKeepalive: Keepalive;
  readonly epochFloor: bigint;
  readonly recordsDir: string;
  readonly auditLog: string;
  /** Empty: no raw samples. */
  readonly traceSamples: string;
  readonly hasDebugEndpoints: boolean;
  readonly tls: {
    readonly cert: string;
    readonly key: string;
    readonly ca: string;
    readonly requireTls: boolean;
  };
  readonly shard: ShardSettings;
  readonly build: { readonly version: string; readonly revision: string };
}

export type ProviderChoice =
  /** The whole set. */
  | { readonly kind: 'flags'; readonly targets: readonly ProviderTarget[] }
  /** What the coordinator's registry said last; possibly nothing. */
  | { readonly kind: 'stored' }
  | { readonly kind: 'fake'; readonly fake: FakeSettings };
