// The network server: ByteRouter in, gRPC over HTTP/2 out. It serves any path that the
// router finds and answers UNIMPLEMENTED for the rest. Limits, keepalive and stream counts
// are fixed here for every server of the fleet; what a call does is in server-call.ts, how
// a connection comes in is in listener.ts.
//
// Stopping is graceful first (GOAWAY, running calls may finish) and forced after its bound:
// signals abort, calls end UNAVAILABLE, sockets are destroyed.

import { assert, type Runtime, type Timer } from '@bigfleet/base';
import {
  Server,
  ServerCredentials,
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import type { Peer, PeerIdentity } from '../identity/identity.ts';
import type { TlsMaterial } from '../tls/material.ts';
import { RpcError } from '../transport/status.ts';
import type { ByteMethod, ByteRouter } from '../transport/transport.ts';
import {
  connectionAgeGraceMs,
  defaultStopGraceMs,
  type Keepalive,
  keepaliveOptions,
  type KeepalivePreset,
  maxMessageBytes,
  maxStreamsPerConnection,
} from './limits.ts';
import { type ListenAddress, parseListenAddress } from './listen-address.ts';
import { Listener } from './listener.ts';
import type { CallHost, CallSetup, ServerCall } from './server-call.ts';
import { StreamServerCall } from './stream-server-call.ts';
import { UnaryServerCall } from './unary-server-call.ts';

export interface GrpcServerOptions {
  readonly runtime: Runtime;
  readonly router: ByteRouter;
  /** ':7780', 'host:7780', '[::1]:7780', 'unix:/path.sock'; port 0 picks a free one. */
  readonly listen: readonly string[];
  /** Applies to every TCP address; Unix sockets are guarded by their file mode. */
  readonly tls?: TlsMaterial;
  /** Default 'session'. */
  readonly keepalive?: KeepalivePreset | Keepalive;
  /** Connections get GOAWAY at this age ± 10 %, and end `connectionAgeGraceMs` later. */
  readonly maxConnectionAgeMs?: number;
  readonly maxConnectionAgeGraceMs?: number;
  /** How long stop() lets running calls finish. */
  readonly stopGraceMs?: number;
  readonly onError?: (report: ServerErrorReport) => void;
}

/** What went wrong without any caller of ours to tell. */
export type ServerErrorReport =
  | { readonly kind: 'panic'; readonly path: string; readonly error: unknown }
  /** A peer that did not get in: no or a bad certificate, another protocol, no handshake. */
  | { readonly kind: 'connection-refused'; readonly peerAddress: string; readonly error: Error }
  /** A TLS connection that broke after it was in use. */
  | { readonly kind: 'connection-failed'; readonly peerAddress: string; readonly error: Error };

export function createGrpcServer(options: GrpcServerOptions): GrpcServer {
  return new GrpcServer(options);
}

interface Endpoint {
  readonly server: Server;
  readonly listener: Listener;
}

export class GrpcServer {
  readonly #options: GrpcServerOptions;
  readonly #endpoints: readonly Endpoint[];
  readonly #calls = new Set<ServerCall>();
  readonly #host: CallHost;
  #stopping: Promise<void> | undefined;

  constructor(options: GrpcServerOptions) {
    this.#options = options;
    this.#host = {
      runtime: options.runtime,
      opened: (call) => this.#calls.add(call),
      closed: (call) => this.#calls.delete(call),
      panicked: (path, error) => options.onError?.({ kind: 'panic', path, error }),
    };
    this.#endpoints = options.listen.map((text) => this.#createEndpoint(parseListenAddress(text)));
  }

  get connectionCount(): number {
    return this.#endpoints.reduce((sum, { listener }) => sum + listener.connectionCount, 0);
  }

  get callCount(): number {
    return this.#calls.size;
  }

  /** Listens on every address, or on none; the bound addresses in order, ready to dial. */
  async bind(): Promise<readonly string[]> {
    assert(this.#stopping === undefined, 'a stopped server cannot be bound again');
    const bound: string[] = [];
    try {
      for (const { listener } of this.#endpoints) bound.push(await listener.bind());
    } catch (error) {
      await this.stop();
      throw error;
    }
    return bound;
  }

  /** Idempotent. Resolves when every connection is gone, at the latest after the grace. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const { runtime, stopGraceMs = defaultStopGraceMs } = this.#options;
    for (const { server, listener } of this.#endpoints) {
      listener.close();
      // GOAWAY to every connection. Its callback is of no use: under Node 24 it does not wait.
      server.tryShutdown(() => {});
    }
    const drained = Promise.all(this.#endpoints.map(({ listener }) => listener.drained()));
    let timer: Timer | undefined;
    const graceOver = new Promise<void>((resolve) => {
      timer = runtime.timers.after(stopGraceMs, resolve);
    });
    await Promise.race([drained, graceOver]);
    timer?.cancel();
    await this.#forceStop();
    await drained;
  }

  async #forceStop(): Promise<void> {
    if (this.connectionCount === 0) return;
    const reason = new RpcError('UNAVAILABLE', 'the server is stopping');
    for (const call of this.#calls) call.terminate(reason);
    // One turn of the loop, so that the statuses leave before their sockets go.
    await this.#options.runtime.timers.turn();
    for (const { listener } of this.#endpoints) listener.destroyConnections();
  }

  #createEndpoint(address: ListenAddress): Endpoint {
    const tls = address.kind === 'unix' ? undefined : this.#options.tls;
    const listener: Listener = new Listener({
      address,
      tls,
      accept: (socket) => injector.injectConnection(socket),
      report: (kind, peerAddress, error) => this.#options.onError?.({ kind, peerAddress, error }),
    });
    const unixAddress = address.kind === 'unix' ? `unix:${address.path}` : undefined;
    const server = this.#createServer(
      tls?.mode === 'mtls'
        ? (wire) => verifiedPeer(listener, wire)
        : (wire) => new UnverifiedPeer(wire, unixAddress),
    );
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    return { server, listener };
  }

  #createServer(peerOf: PeerOf): Server {
    const { router, keepalive = 'session', maxConnectionAgeMs } = this.#options;
    const ageOptions = {
      'grpc.max_connection_age_ms': maxConnectionAgeMs,
      'grpc.max_connection_age_grace_ms':
        this.#options.maxConnectionAgeGraceMs ?? connectionAgeGraceMs,
    };
    const server = new Server({
      ...keepaliveOptions(keepalive),
      ...(maxConnectionAgeMs === undefined ? {} : ageOptions),
      'grpc.max_receive_message_length': maxMessageBytes,
      'grpc.max_send_message_length': maxMessageBytes,
      'grpc.max_concurrent_streams': maxStreamsPerConnection,
      'grpc.enable_channelz': 0,
      interceptors: [interceptor(router, this.#host, peerOf)],
    });
    serveAnyPath(server);
    return server;
  }
}

/** Plaintext and Unix sockets. The address costs a walk through the socket: only on demand. */
class UnverifiedPeer implements Peer {
  readonly identity: PeerIdentity = { kind: 'unverified' };
  readonly #wire: ServerInterceptingCallInterface;
  readonly #path: string | undefined;

  constructor(wire: ServerInterceptingCallInterface, path: string | undefined) {
    this.#wire = wire;
    this.#path = path;
  }

  get address(): string {
    return this.#path ?? this.#wire.getPeer();
  }
}

type PeerOf = (wire: ServerInterceptingCallInterface) => Peer | undefined;

/** The listener let only verified peers in; asked again per call, so that no bug there opens a door. */
function verifiedPeer(listener: Listener, wire: ServerInterceptingCallInterface): Peer | undefined {
  const certificate = wire.getAuthContext().sslPeerCertificate;
  return certificate === undefined ? undefined : listener.peerOf(certificate);
}

function interceptor(router: ByteRouter, host: CallHost, peerOf: PeerOf): ServerInterceptor {
  return ({ path }, wire) =>
    new TakenOver(wire, () => {
      const peer = peerOf(wire);
      const method = router.find(path);
      if (peer === undefined) {
        wire.sendStatus({ code: status.UNAUTHENTICATED, details: 'no verified peer certificate' });
      } else if (method === undefined) {
        wire.sendStatus({ code: status.UNIMPLEMENTED, details: `no method ${path} here` });
      } else {
        wire.start(createServerCall({ path, peer, wire, host }, method));
      }
    });
}

function createServerCall(setup: CallSetup, method: ByteMethod): ServerCall {
  return method.kind === 'unary'
    ? new UnaryServerCall(setup, method)
    : new StreamServerCall(setup, method);
}

/** Puts our call in place of grpc-js's own stream objects: their listener is never started. */
class TakenOver extends ServerInterceptingCall {
  readonly #begin: () => void;

  constructor(wire: ServerInterceptingCallInterface, begin: () => void) {
    super(wire);
    this.#begin = begin;
  }

  override start(): void {
    this.#begin();
  }
}

/** What grpc-js hands out per path. Ours is for every path, so that the router alone decides. */
function serveAnyPath(server: Server): void {
  assert('_retrieveHandler' in server, 'this version of grpc-js looks up handlers differently');
  Object.defineProperty(server, '_retrieveHandler', {
    value: (path: string) => ({ path, type: 'bidi', serialize, deserialize, func: () => {} }),
  });
}

function serialize(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}

/** A plain view: Buffer's slice() shares memory where a Uint8Array's copies. */
function deserialize(message: Buffer): Uint8Array {
  return new Uint8Array(message.buffer, message.byteOffset, message.byteLength);
}
