// A TCP proxy in front of one server that misbehaves on demand, per direction: latency,
// throttling, silence (half-open: it accepts and forwards nothing), reset, refusal; then heals.
// It works without privileges, and does what namespaces cannot here (the netem module is often
// absent). What it cannot imitate: during silence a new connection is accepted by this proxy's
// own kernel, where a real partition would leave the client's SYN unanswered; see netns.ts.

import { createServer, type Server, Socket } from 'node:net';
import { FaultLane, type LaneFaults, NO_FAULTS } from './fault-lane.ts';
import { leasePort, type PortLease } from './ports.ts';

const MAX_CONNECTIONS = 1_024;
const STRANDED: LaneFaults = { ...NO_FAULTS, silent: true };

/** `up` is client to server, `down` is server to client. */
export type Direction = 'up' | 'down' | 'both';

export interface FaultProxyOptions {
  /** Where it listens; loopback unless told. */
  readonly listenHost?: string;
  readonly targetHost?: string;
  readonly targetPort: number;
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new FaultProxy(options, await leasePort());
  await proxy.accept();
  return proxy;
}

export class FaultProxy implements AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly #options: FaultProxyOptions;
  readonly #lease: PortLease;
  readonly #connections = new Set<ProxiedConnection>();
  #server: Server | undefined;
  #up: LaneFaults = NO_FAULTS;
  #down: LaneFaults = NO_FAULTS;

  constructor(options: FaultProxyOptions, lease: PortLease) {
    this.host = options.listenHost ?? '127.0.0.1';
    this.#options = options;
    this.#lease = lease;
    this.port = lease.port;
  }

  get connectionCount(): number {
    return this.#connections.size;
  }

  /** Adds to the faults in force, for connections open now and later. */
  fault(direction: Direction, faults: Partial<LaneFaults>): void {
    if (direction !== 'down') this.#up = { ...this.#up, ...faults };
    if (direction !== 'up') this.#down = { ...this.#down, ...faults };
    this.#faultsChanged();
  }

  /**
   * Open connections fall silent for ever, new ones work: a router or firewall forgot them. Healing does not
   * bring them back.
   */
  strand(): void {
    for (const connection of this.#connections) connection.strand();
  }

  /** Cuts every open connection with RST. */
  reset(): void {
    for (const connection of this.#connections) connection.reset();
  }

  /** Closes the listener: new connections are refused, open ones stay. */
  refuse(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  /** Listens (again). */
  accept(): Promise<void> {
    if (this.#server !== undefined) return Promise.resolve();
    // Half-open must be allowed: otherwise Node ends our side as soon as the peer ends its own.
    const server = createServer({ allowHalfOpen: true }, (client) => this.#onClient(client));
    server.maxConnections = MAX_CONNECTIONS;
    this.#server = server;
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host: this.host, port: this.port, exclusive: true }, resolve);
    });
  }

  /** No faults; what was held back now passes. */
  async heal(): Promise<void> {
    this.#up = NO_FAULTS;
    this.#down = NO_FAULTS;
    this.#faultsChanged();
    await this.accept();
  }

  async stop(): Promise<void> {
    this.refuse();
    for (const connection of this.#connections) connection.destroy();
    await this.#lease.release();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #faultsChanged(): void {
    for (const connection of this.#connections) connection.pump();
  }

  #onClient(client: Socket): void {
    const { targetHost: host = '127.0.0.1', targetPort: port } = this.#options;
    const connection = new ProxiedConnection(client, {
      connect: (server) => server.connect({ host, port }),
      up: () => this.#up,
      down: () => this.#down,
      ended: () => this.#connections.delete(connection),
    });
    this.#connections.add(connection);
    connection.pump();
  }
}

interface ConnectionHooks {
  readonly connect: (server: Socket) => void;
  readonly up: () => LaneFaults;
  readonly down: () => LaneFaults;
  readonly ended: () => void;
}

class ProxiedConnection {
  readonly #client: Socket;
  readonly #server: Socket = new Socket({ allowHalfOpen: true });
  readonly #up: FaultLane;
  readonly #down: FaultLane;
  readonly #hooks: ConnectionHooks;
  /** A side that broke while its news was held back. */
  #broken: 'client' | 'server' | undefined;
  #connecting = false;
  #isStranded = false;

  constructor(client: Socket, hooks: ConnectionHooks) {
    const server = this.#server;
    const up = (): LaneFaults => (this.#isStranded ? STRANDED : hooks.up());
    const down = (): LaneFaults => (this.#isStranded ? STRANDED : hooks.down());
    this.#client = client;
    this.#hooks = { ...hooks, up, down };
    for (const socket of [client, server]) socket.setNoDelay(true);
    this.#up = new FaultLane(client, server, up);
    this.#down = new FaultLane(server, client, down);
    client.on('error', () => this.#onBroken('client'));
    server.on('error', () => this.#onBroken('server'));
    for (const socket of [client, server]) {
      socket.on('close', () => {
        if (client.destroyed && server.destroyed) this.#finish();
      });
    }
  }

  pump(): void {
    // A handshake needs both directions: under silence the server must not even see a client.
    const reachable = !this.#hooks.up().silent && !this.#hooks.down().silent;
    if (!this.#connecting && reachable) {
      this.#connecting = true;
      this.#hooks.connect(this.#server);
    }
    this.#up.pump();
    this.#down.pump();
    if (this.#broken !== undefined) this.#onBroken(this.#broken);
  }

  strand(): void {
    this.#isStranded = true;
  }

  reset(): void {
    this.#client.resetAndDestroy();
    this.#server.resetAndDestroy();
  }

  destroy(): void {
    this.#client.destroy();
    this.#server.destroy();
  }

  /** One side was reset or could not be reached: the other learns it unless that is cut off. */
  #onBroken(side: 'client' | 'server'): void {
    this.#broken = side;
    const { silent } = side === 'client' ? this.#hooks.up() : this.#hooks.down();
    if (silent) return;
    this.#broken = undefined;
    (side === 'client' ? this.#server : this.#client).resetAndDestroy();
  }

  #finish(): void {
    this.#up.stop();
    this.#down.stop();
    this.#hooks.ended();
  }
}
