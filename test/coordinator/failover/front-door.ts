// One address for all replicas, as a Service is: every new connection goes to some replica that
// accepts, picked at random. It looks at nothing above TCP, so a client must find the leader itself.

import { connect, createServer, type Server, type Socket } from 'node:net';
import { realRuntime } from '@bigfleet/base/real';
import { leasePort, type PortLease } from '../../toolkit/index.ts';

const { random } = realRuntime();
const MAX_CONNECTIONS = 256;

export class FrontDoor implements AsyncDisposable {
  readonly #targets: () => readonly string[];
  readonly #lease: PortLease;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  static async open(targets: () => readonly string[]): Promise<FrontDoor> {
    const door = new FrontDoor(targets, await leasePort());
    await new Promise<void>((resolve, reject) => {
      door.#server.once('error', reject);
      door.#server.listen({ host: '127.0.0.1', port: door.#lease.port, exclusive: true }, resolve);
    });
    return door;
  }

  private constructor(targets: () => readonly string[], lease: PortLease) {
    this.#targets = targets;
    this.#lease = lease;
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#admit(client));
    this.#server.maxConnections = MAX_CONNECTIONS;
  }

  get address(): string {
    return `127.0.0.1:${this.#lease.port}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
    await this.#lease.release();
  }

  #admit(client: Socket): void {
    this.#hold(client);
    this.#tryNext(client, shuffled(this.#targets()));
  }

  #tryNext(client: Socket, [target, ...others]: readonly string[]): void {
    if (target === undefined || client.destroyed) {
      client.destroy();
      return;
    }
    const at = target.lastIndexOf(':');
    const server = connect({
      host: target.slice(0, at),
      port: Number(target.slice(at + 1)),
      allowHalfOpen: true,
    });
    this.#hold(server);
    const onRefused = (): void => this.#tryNext(client, others);
    server.once('error', onRefused);
    server.once('connect', () => {
      server.off('error', onRefused);
      client.pipe(server);
      server.pipe(client);
    });
  }

  #hold(socket: Socket): void {
    this.#sockets.add(socket);
    // A reset is what tests cause on purpose; the other side learns of it by the close.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

function shuffled(targets: readonly string[]): readonly string[] {
  return targets
    .map((target) => ({ target, order: random.below(1_000_000) }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ target }) => target);
}
