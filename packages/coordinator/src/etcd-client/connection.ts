// One endpoint's channel and its typed services. The channel reconnects by itself; nothing is
// retried here. Pings are rarer than etcd's own minimum of 5 s, or it would answer GOAWAY.

import type { Runtime } from '@bigfleet/base';
import {
  type Channel,
  type Client,
  createClient,
  createGrpcChannel,
  type TlsMaterial,
} from '@bigfleet/wire';
import { Auth, Cluster, KV, Lease, Maintenance, Watch } from '@bigfleet/wire/etcd';
import type { Endpoint } from './endpoint.ts';

const keepalive = { timeMs: 10_000, timeoutMs: 3_000, withoutCalls: false } as const;
/** Short: the client has its own failover, and a restarted member should be used at once. */
const reconnectBackoffMs = { initial: 50, max: 1_000 } as const;

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

export interface ConnectOptions {
  readonly runtime: Runtime;
  readonly tls?: TlsMaterial | undefined;
}

export function connectTo(endpoint: Endpoint, { runtime, tls }: ConnectOptions): Connection {
  const secured =
    endpoint.isTls && tls !== undefined
      ? { tls, serverIdentity: { kind: 'host-name-only' } as const }
      : {};
  return connectionOn(
    endpoint,
    createGrpcChannel({
      runtime,
      target: endpoint.target,
      keepalive,
      reconnectBackoffMs,
      ...secured,
    }),
  );
}

function connectionOn(endpoint: Endpoint, channel: Channel): Connection {
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
