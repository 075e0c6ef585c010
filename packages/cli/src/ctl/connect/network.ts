// How bigfleetctl reaches anything, as an argument: gRPC in production, the in-memory network when
// a test runs the whole fleet in one process.

import { lookup } from 'node:dns/promises';
import type { Runtime } from '@bigfleet/base';
import {
  type Channel,
  createGrpcChannel,
  type ServerIdentityRule,
  type TlsMaterial,
} from '@bigfleet/wire';
import { type CertificateAsk, certificateExpiry } from './certificate-expiry.ts';

export interface ConnectOptions {
  readonly target: string;
  readonly tls: TlsMaterial | undefined;
  /** Who the server must be, under TLS (security §3.2). */
  readonly serverIdentity: ServerIdentityRule;
  /** The name that its certificate must carry, when the target is one of its addresses. */
  readonly serverName?: string;
}

export interface Network {
  connect(options: ConnectOptions): Channel;
  /** Every address behind a host name; the name itself when it cannot be resolved. */
  addressesOf(host: string): Promise<readonly string[]>;
  /** Of the certificate that the server presents, in Unix seconds. */
  certificateExpiry(ask: CertificateAsk): Promise<number | undefined>;
}

/** A command is short: one try that fails quickly says more than a patient one. */
const RECONNECT_MS = { initial: 100, max: 1_000 };

export function grpcNetwork(runtime: Runtime): Network {
  return {
    connect: ({ target, tls, serverIdentity, serverName }) =>
      createGrpcChannel({
        runtime,
        target,
        reconnectBackoffMs: RECONNECT_MS,
        ...(tls === undefined ? {} : { tls, serverIdentity }),
        ...(serverName === undefined ? {} : { serverName }),
      }),
    addressesOf: async (host) => {
      try {
        return (await lookup(host, { all: true })).map(({ address }) => address);
      } catch {
        // The dial that follows fails with the resolver's own words.
        return [host];
      }
    },
    certificateExpiry,
  };
}
