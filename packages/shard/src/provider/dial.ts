// Makes the client of a provider from what flags or the registry say about it. Connects lazily: a
// provider that is down at start is a failed List, never a failed start.

import { BigFleetError, type Runtime } from '@bigfleet/base';
import {
  type Channel,
  createGrpcChannel,
  type Keepalive,
  type TlsMaterial,
  type TokenSource,
} from '@bigfleet/wire';
import { GrpcProvider } from './grpc-provider.ts';

export interface DialOptions {
  readonly runtime: Runtime;
  /** `host:port`, or `unix:/path`, where TLS is off and the socket's mode protects. */
  readonly address: string;
  /** The process's one source. */
  readonly fencing: TokenSource;
  readonly tls?: TlsMaterial | undefined;
  /** Default: ping every 60 s, 20 s for the answer. Under 30 s earns a GOAWAY. */
  readonly keepalive?: Keepalive | undefined;
}

export interface DialledProvider {
  readonly provider: GrpcProvider;
  /** Ends every call with CANCELLED. Idempotent. */
  close(): void;
}

export function dialProvider(options: DialOptions): DialledProvider {
  const { runtime, address } = options;
  if (address === '') {
    throw new BigFleetError('provider_misconfigured', 'the address of a provider is empty');
  }
  const channel = openChannel(options);
  return {
    provider: new GrpcProvider({ runtime, channel, tokens: options.fencing }),
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
