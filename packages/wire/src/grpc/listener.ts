// One listening socket. We accept connections ourselves and inject them into grpc-js: that
// gives the right backlog, errors with their code, sockets that a forced stop can destroy,
// and a TLS accept path that is ours: TLS 1.3, no tickets, and a connection without a
// verified peer certificate ends here, before HTTP/2 sees a byte (security §1.2).
//
// The configured mode decides what a connection is, never what the peer sent: no
// auto-detection on a port.

import { once } from 'node:events';
import { createServer, type Server as NetServer, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type PeerCertificate,
  type Server as TlsServer,
  type TLSSocket,
} from 'node:tls';
import { BigFleetError } from '@bigfleet/base';
import { identityOfCertificate } from '../identity/certificate.ts';
import type { Peer } from '../identity/identity.ts';
import type { TlsMaterial } from '../tls/material.ts';
import { HandshakeGate } from './handshake-gate.ts';
import {
  handshakeTimeoutMs,
  listenBacklog,
  maxHandshakes,
  maxWaitingHandshakes,
} from './limits.ts';
import { formatAddress, type ListenAddress } from './listen-address.ts';
import { freeSocketPath, withOwnerOnlyMode } from './unix-socket.ts';

export interface ListenerOptions {
  readonly address: ListenAddress;
  /** Absent on plaintext listeners and always on Unix sockets. */
  readonly tls: TlsMaterial | undefined;
  /** A connection that is ready for HTTP/2. */
  accept(socket: Socket): void;
  report(kind: 'connection-refused' | 'connection-failed', peerAddress: string, error: Error): void;
}

export class Listener {
  readonly #options: ListenerOptions;
  readonly #server: NetServer;
  readonly #tlsServer: TlsServer | undefined;
  readonly #sockets = new Set<Socket>();
  /** By remote address, the one name that the raw and the secured socket share. */
  readonly #handshaking = new Map<string, Socket>();
  readonly #gate: HandshakeGate;
  readonly #peers = new WeakMap<PeerCertificate, Peer>();
  readonly #closing = new AbortController();
  readonly #drainWaiters: (() => void)[] = [];
  readonly #stopWatching: () => void;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#onConnection(socket));
    const { tls } = options;
    this.#tlsServer = tls === undefined ? undefined : this.#createTlsServer(tls);
    this.#gate = new HandshakeGate({
      maxRunning: maxHandshakes,
      maxWaiting: maxWaitingHandshakes,
      timeoutMs: handshakeTimeoutMs,
      begin: (socket) => this.#handshake(socket),
      refused: (socket, reason) => options.report('connection-refused', addressOf(socket), reason),
    });
    this.#stopWatching =
      tls?.onChange(() => this.#tlsServer?.setSecureContext(tls.serverContextOptions())) ??
      (() => {});
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  /** Who is behind a certificate that grpc-js reports for a call on this listener. */
  peerOf(certificate: PeerCertificate): Peer | undefined {
    return this.#peers.get(certificate);
  }

  async bind(): Promise<string> {
    const { address } = this.#options;
    if (address.kind === 'unix' && !(await freeSocketPath(address.path))) {
      throw addressInUse(`unix:${address.path}`, undefined);
    }
    if (this.#closing.signal.aborted) throw closedWhileBinding();
    try {
      const listening = once(this.#server, 'listening', { signal: this.#closing.signal });
      this.#listen(address);
      await listening;
    } catch (error) {
      if (this.#closing.signal.aborted) throw closedWhileBinding();
      throw bindFailed(address, error);
    }
    // Accepting can fail later (no file descriptors); without a listener that ends the process.
    this.#server.on('error', (error) =>
      this.#options.report('connection-refused', 'unknown', error),
    );
    return this.#boundAddress(address);
  }

  /** No new connections, and none that has not finished its handshake; a Unix socket's file goes. */
  close(): void {
    this.#closing.abort();
    this.#stopWatching();
    this.#server.close();
    // A bind that still resolves its host name would listen after all.
    this.#server.once('listening', () => this.#server.close());
    this.#gate.destroyAll();
  }

  /** Resolves when no connection is left. */
  drained(): Promise<void> {
    if (this.#sockets.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#drainWaiters.push(resolve));
  }

  destroyConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #listen(address: ListenAddress): void {
    if (address.kind === 'unix') {
      withOwnerOnlyMode(() => this.#server.listen({ path: address.path, backlog: listenBacklog }));
      return;
    }
    const { host, port } = address;
    this.#server.listen({ port, backlog: listenBacklog, ...(host === undefined ? {} : { host }) });
  }

  #boundAddress(address: ListenAddress): string {
    const bound = this.#server.address();
    if (bound === null || typeof bound === 'string') return `unix:${bound ?? ''}`;
    const host = address.kind === 'tcp' && address.host !== undefined ? address.host : 'localhost';
    return formatAddress(host, bound.port);
  }

  #onConnection(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => this.#forget(socket));
    if (this.#tlsServer === undefined) {
      this.#options.accept(socket);
      return;
    }
    // A peer may reset before its turn; unheard, that would end the process.
    socket.once('error', (error) =>
      this.#options.report('connection-refused', addressOf(socket), error),
    );
    this.#gate.add(socket);
  }

  #handshake(socket: Socket): void {
    const address = addressOf(socket);
    this.#handshaking.set(address, socket);
    socket.once('close', () => this.#endHandshake(address, socket));
    this.#tlsServer?.emit('connection', socket);
  }

  #forget(socket: Socket): void {
    this.#sockets.delete(socket);
    if (this.#sockets.size > 0) return;
    for (const resolve of this.#drainWaiters.splice(0)) resolve();
  }

  #createTlsServer(tls: TlsMaterial): TlsServer {
    const server = createTlsServer({
      ...tls.serverContextOptions(),
      ...tls.clientCertificatePolicy(),
      ALPNProtocols: ['h2'],
      handshakeTimeout: handshakeTimeoutMs,
    });
    server.on('secureConnection', (socket) => this.#onSecureConnection(socket, tls));
    server.on('tlsClientError', (error, socket) =>
      this.#options.report('connection-refused', addressOf(socket), error),
    );
    return server;
  }

  #onSecureConnection(socket: TLSSocket, tls: TlsMaterial): void {
    const address = addressOf(socket);
    socket.on('error', (error: Error) => this.#options.report('connection-failed', address, error));
    const raw = this.#handshaking.get(address);
    this.#handshaking.delete(address);
    if (raw !== undefined) this.#gate.done(raw);
    if (tls.mode === 'mtls' && !this.#admit(socket)) {
      const reason = new Error('no verified peer certificate');
      this.#options.report('connection-refused', address, reason);
      socket.destroy();
      return;
    }
    this.#options.accept(socket);
  }

  /**
   * Reads the identity once per connection. Node parses the certificate again at each
   * getPeerCertificate(), which costs more than the call it is asked for, so the socket
   * keeps the parsed one; its identity as an object is the key to the peer.
   */
  #admit(socket: TLSSocket): boolean {
    if (socket.authorized !== true) return false;
    const certificate = socket.getPeerCertificate();
    if (!Buffer.isBuffer(certificate.raw)) return false;
    Object.defineProperty(socket, 'getPeerCertificate', { value: () => certificate });
    const identity = identityOfCertificate(certificate.raw);
    this.#peers.set(certificate, { address: addressOf(socket), identity });
    return true;
  }

  #endHandshake(address: string, socket: Socket): void {
    if (this.#handshaking.get(address) === socket) this.#handshaking.delete(address);
  }
}

function addressOf(socket: Socket): string {
  const { remoteAddress, remotePort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return 'unknown';
  return formatAddress(remoteAddress, remotePort);
}

function closedWhileBinding(): BigFleetError {
  return new BigFleetError('cancelled', 'the server was stopped while it was being bound');
}

function bindFailed(address: ListenAddress, cause: unknown): BigFleetError {
  const text =
    address.kind === 'unix'
      ? `unix:${address.path}`
      : formatAddress(address.host ?? '', address.port);
  if (cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE') {
    return addressInUse(text, cause);
  }
  const detail = cause instanceof Error ? cause.message : String(cause);
  return new BigFleetError('listen_failed', `cannot listen on ${text}: ${detail}`, {
    fields: { address: text },
    cause,
  });
}

function addressInUse(address: string, cause: unknown): BigFleetError {
  return new BigFleetError(
    'address_in_use',
    `cannot listen on ${address}: another process has it; stop that process or choose another address`,
    { fields: { address }, cause },
  );
}
