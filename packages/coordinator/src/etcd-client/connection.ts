// One endpoint's channel and its typed services. The channel reconnects by itself; nothing is
// retried here. Pings are rarer than etcd's own minimum of 5 s, or it would answer GOAWAY.

import { type Runtime, BigFleetError, assert } from '@bigfleet/base';
import { type Client, createClient, createGrpcChannel, type TlsMaterial } from '@bigfleet/wire';
import { Auth, Cluster, KV, Lease, Maintenance, Watch } from '@bigfleet/wire/etcd';

const keepalive = { timeMs: 10_000, timeoutMs: 3_000, withoutCalls: false } as const;
/** Short: the client has its own failover, and a restarted member should be used at once. */
const reconnectBackoffMs = { initial: 50, max: 1_000 } as const;
const maxEndpointCount = 16;

export interface Connection {
  readonly endpoint: Endpoint;
  readonly kv: Client<typeof KV>;
  readonly lease: Client<typeof Lease>;
  readonly watch: Client<typeof Watch>;
  readonly cluster: Client<typeof Cluster>;
  readonly maintenance: Client<typeof Maintenance>;
  readonly auth: Client<typeof Auth>;
  close(): void;
}

export function connectTo(
  runtime: Runtime,
  endpoint: Endpoint,
  tls: TlsMaterial | undefined,
): Connection {
  const secured =
    endpoint.isTls && tls !== undefined
      ? { tls, serverIdentity: { kind: 'host-name-only' } as const }
      : {};
  const { target } = endpoint;
  const channel = createGrpcChannel({ runtime, target, keepalive, reconnectBackoffMs, ...secured });
  return {
    endpoint,
    kv: createClient(KV, channel),
    lease: createClient(Lease, channel),
    watch: createClient(Watch, channel),
    cluster: createClient(Cluster, channel),
    maintenance: createClient(Maintenance, channel),
    auth: createClient(Auth, channel),
    close: () => channel.close(),
  };
}

export interface Endpoint {
  /** What gRPC dials. */
  readonly target: string;
  readonly isTls: boolean;
}

/**
 * One etcd endpoint as flags give it: `http://host:port`, `https://host:port`, `host:port` or
 * `unix:/path`. User info, other paths and schemes are refused: a password in a URL ends up in
 * logs.
 */
export function parseEndpoints(texts: readonly string[]): readonly Endpoint[] {
  if (texts.length === 0 || texts.length > maxEndpointCount) {
    throw badEndpoint(texts.join(','), `1 to ${maxEndpointCount} endpoints are needed`);
  }
  return texts.map(parseEndpoint);
}

function parseEndpoint(text: string): Endpoint {
  if (text.startsWith('unix:/')) return { target: text, isTls: false };
  const url = text.includes('://') ? text : `http://${text}`;
  const parsed = URL.parse(url);
  if (parsed === null) throw badEndpoint(text, 'it is not a URL');
  const { protocol, hostname, port, username, password, pathname, search, hash } = parsed;
  if (protocol !== 'http:' && protocol !== 'https:') throw badEndpoint(text, 'http or https only');
  if (username !== '' || password !== '') throw badEndpoint('***', 'it carries a user or password');
  if (port === '' || hostname === '') throw badEndpoint(text, 'host and port are needed');
  if (!['', '/'].includes(pathname) || search !== '' || hash !== '') {
    throw badEndpoint(text, 'nothing may follow the port');
  }
  return { target: `${hostname}:${port}`, isTls: protocol === 'https:' };
}

function badEndpoint(text: string, detail: string): BigFleetError {
  return new BigFleetError('etcd_bad_endpoint', `etcd endpoint "${text}": ${detail}`);
}

/**
 * The endpoints and which of them is in use. One at a time: requests of one leader then travel one
 * path, and a member that answers slowly is left by its callers together, not one by one.
 */
export class ConnectionPool {
  readonly #connections: readonly Connection[];
  #at = 0;
  /** How often an endpoint was left because it failed. */
  moveCount = 0;

  constructor(connections: readonly Connection[]) {
    assert(connections.length > 0, 'an etcd client needs an endpoint');
    this.#connections = connections;
  }

  get size(): number {
    return this.#connections.length;
  }

  get current(): Connection {
    const connection = this.#connections[this.#at];
    assert(connection !== undefined, 'the endpoint in use exists', { at: this.#at });
    return connection;
  }

  /** Nothing when others have already left it: two failures of one endpoint skip no third one. */
  leave(failed: Connection): void {
    if (this.current !== failed || this.size === 1) return;
    this.#at = (this.#at + 1) % this.size;
    this.moveCount += 1;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
