// How bigfleetctl reaches anything: addresses as they are written and registered, channels, and when a
// certificate ends. An argument of every command: gRPC in production, the in-memory network when a test
// runs the whole fleet in one process.

import { lookup } from 'node:dns/promises';
import { connect } from 'node:tls';
import { type Runtime, withDeadline } from '@bigfleet/base';
import {
  type CallOptions,
  type Channel,
  createGrpcChannel,
  type ServerIdentityRule,
  type TlsMaterial,
} from '@bigfleet/wire';

export interface ConnectOptions {
  readonly target: string;
  readonly tls: TlsMaterial | undefined;
  /** Who the server must be, under TLS (security §3.2). */
  readonly serverIdentity: ServerIdentityRule;
  /** The name that its certificate must carry, when the target is one of its addresses. */
  readonly serverName?: string | undefined;
}

export interface CertificateAsk {
  readonly target: string;
  readonly serverName: string;
  readonly tls: TlsMaterial;
  readonly signal: AbortSignal;
}

export interface Network {
  connect(options: ConnectOptions): Channel;
  /** Every address behind a host name; the name itself when it cannot be resolved. */
  addressesOf(host: string): Promise<readonly string[]>;
  /** Of the certificate that the server presents, in Unix seconds. */
  certificateExpiry(ask: CertificateAsk): Promise<number | undefined>;
}

const MS_PER_SECOND = 1_000;
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

/**
 * A handshake with our own certificate, verified in full, and nothing said over it. Unix seconds;
 * undefined when the target speaks no TLS (a Unix socket).
 */
function certificateExpiry(ask: CertificateAsk): Promise<number | undefined> {
  const parts = hostPortOf(ask.target);
  if (parts === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: parts.host,
      port: Number(parts.port),
      secureContext: ask.tls.clientContext(),
      ALPNProtocols: ['h2'],
      minVersion: 'TLSv1.3',
      // A name, never an address: Node refuses those as server names.
      ...(/[A-Za-z]/.test(ask.serverName) ? { servername: ask.serverName } : {}),
    });
    const end = (): void => {
      socket.destroy(ask.signal.reason instanceof Error ? ask.signal.reason : undefined);
    };
    ask.signal.addEventListener('abort', end, { once: true });
    socket.once('secureConnect', () => {
      const { valid_to: validTo } = socket.getPeerCertificate();
      ask.signal.removeEventListener('abort', end);
      socket.end();
      const ms = Date.parse(validTo);
      resolve(Number.isNaN(ms) ? undefined : ms / MS_PER_SECOND);
    });
    socket.once('error', reject);
  });
}

/** What every link to a server is made of. */
export interface LinkOptions {
  readonly runtime: Runtime;
  readonly channels: Channels;
  readonly tls: TlsMaterial | undefined;
  /** For each call. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Runs one call within the time that a command gives it. */
export async function withinTimeout<T>(
  { runtime, timeoutMs, signal }: LinkOptions,
  work: (call: CallOptions) => Promise<T>,
): Promise<T> {
  const deadline = withDeadline(runtime, timeoutMs, signal);
  try {
    return await work({ signal: deadline.signal });
  } finally {
    deadline.dispose();
  }
}

/** The connections of one command: one channel per server, closed together at its end. */
export class Channels {
  readonly #network: Network;
  /** Bound: the servers that one command talks to. */
  readonly #open = new Map<string, Channel>();

  constructor(network: Network) {
    this.#network = network;
  }

  to(options: ConnectOptions): Channel {
    const { target, serverIdentity, serverName } = options;
    const key = JSON.stringify([target, serverIdentity, serverName]);
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const channel = this.#network.connect(options);
    this.#open.set(key, channel);
    return channel;
  }

  close(): void {
    for (const channel of this.#open.values()) channel.close();
    this.#open.clear();
  }
}

/**
 * `host:port`, `[v6]:port`, `unix:/path`. A shard that was told no host registers `:7780`, which means
 * its own machine: from here that is only right on the same one, and a failing dial then says where it
 * went.
 */
interface HostPort {
  readonly host: string;
  readonly port: string;
}

export function hostPortOf(target: string): HostPort | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:/]*)):(\d{1,5})$/.exec(target);
  if (match === null) return undefined;
  const [, v6, name, port = ''] = match;
  return { host: v6 ?? name ?? '', port };
}

export function joinHostPort(host: string, port: string): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** What can be dialled; undefined when it is no address at all. */
export function dialTarget(address: string): string | undefined {
  if (/^unix:./.test(address)) return address;
  const parts = hostPortOf(address);
  if (parts === undefined) return undefined;
  return parts.host === '' ? joinHostPort('localhost', parts.port) : address;
}
