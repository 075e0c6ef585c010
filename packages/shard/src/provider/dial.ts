// Makes the client of a provider from what flags or the registry say about it. Connects lazily: a
// provider that is down at start is a failed List, never a failed start.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import {
  type Channel,
  createGrpcChannel,
  type Keepalive,
  type TlsMaterial,
  TokenSource,
} from '@bigfleet/wire';
import { GrpcProvider } from './grpc-provider.ts';

export interface DialOptions {
  readonly runtime: Runtime;
  /** `host:port`, or `unix:/path`, where TLS is off and the socket's mode protects. */
  readonly address: string;
  /** The process's one source, or what to make one from. */
  readonly fencing: TokenSource | ShardGeneration;
  readonly tls?: TlsMaterial | undefined;
  /** Default: ping every 60 s, 20 s for the answer. Under 30 s earns a GOAWAY. */
  readonly keepalive?: Keepalive | undefined;
}

export interface ShardGeneration {
  readonly shardId: string;
  /** Durable before the first mutation; above that of every predecessor. */
  readonly shardEpoch: bigint;
}

export interface DialledProvider {
  readonly provider: GrpcProvider;
  /** Ends every call with CANCELLED. Idempotent. */
  close(): void;
}

export function dialProvider(options: DialOptions): DialledProvider {
  const { runtime, address } = options;
  if (address === '') throw misconfigured('the address of a provider is empty');
  const tokens = tokensOf(options.fencing);
  const channel = openChannel(options);
  return {
    provider: new GrpcProvider({ runtime, channel, tokens }),
    close: () => channel.close(),
  };
}

/** A connection of its own to the address. The caller closes it. */
export function openChannel(options: Omit<DialOptions, 'fencing'>): Channel {
  const { runtime, address, tls, keepalive = 'provider' } = options;
  return createGrpcChannel({
    runtime,
    target: address,
    keepalive,
    // Providers carry no bigfleet:// identity (security §3.2).
    serverIdentity: { kind: 'host-name-only' },
    ...(tls === undefined ? {} : { tls }),
  });
}

function tokensOf(fencing: TokenSource | ShardGeneration): TokenSource {
  if (fencing instanceof TokenSource) return fencing;
  const { shardId, shardEpoch } = fencing;
  if (shardId === '') throw misconfigured('a provider client needs the id of its shard');
  if (shardEpoch < 1n) throw misconfigured(`shard epoch ${shardEpoch}: epochs begin at 1`);
  return new TokenSource(shardId, shardEpoch);
}

function misconfigured(problem: string): BigFleetError {
  return new BigFleetError('provider_misconfigured', problem);
}
