// How many TLS handshakes run at once. After a restart thousands of operators come back together, and a
// handshake is a millisecond of the one thread that owns all sockets: so many at a time, the others
// wait, and what was admitted is served meanwhile (shard §3.2, §21.5).
//
// A connection takes a place when its first bytes are there: who opens a socket and says nothing costs
// nobody's turn. Whoever waits too long, and whoever finds the waiting room full, is refused.
// Invariant: a socket is silent, waiting or handshaking, and leaves when it is done or closes.

import type { Socket } from 'node:net';

export interface HandshakeGateOptions {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly timeoutMs: number;
  /** Its turn: the handshake begins. */
  begin(socket: Socket): void;
  /** It is destroyed by the gate. */
  refused(socket: Socket, reason: Error): void;
}

export class HandshakeGate {
  readonly #options: HandshakeGateOptions;
  /** Silent, and in the order in which they spoke those that wait. */
  readonly #silent = new Set<Socket>();
  readonly #waiting = new Set<Socket>();
  readonly #running = new Set<Socket>();

  constructor(options: HandshakeGateOptions) {
    this.#options = options;
  }

  get runningCount(): number {
    return this.#running.size;
  }

  /** A new connection, nothing read from it. */
  add(socket: Socket): void {
    const { maxWaiting, timeoutMs } = this.#options;
    socket.once('close', () => this.done(socket));
    if (this.#silent.size + this.#waiting.size >= maxWaiting) {
      return this.#refuse(socket, 'too many connections wait for their handshake');
    }
    this.#silent.add(socket);
    socket.setTimeout(timeoutMs, () => this.#refuse(socket, 'no handshake in time'));
    socket.once('readable', () => this.#spoke(socket));
  }

  /** Its handshake is over, or it closed. Idempotent. */
  done(socket: Socket): void {
    this.#silent.delete(socket);
    this.#waiting.delete(socket);
    if (this.#running.delete(socket)) this.#admit();
  }

  /** Everybody whose handshake is not over. */
  destroyAll(): void {
    for (const group of [this.#silent, this.#waiting, this.#running]) {
      for (const socket of group) socket.destroy();
    }
  }

  #spoke(socket: Socket): void {
    if (!this.#silent.delete(socket)) return;
    this.#waiting.add(socket);
    this.#admit();
  }

  #admit(): void {
    for (const socket of this.#waiting) {
      if (this.#running.size >= this.#options.maxRunning) return;
      this.#waiting.delete(socket);
      this.#running.add(socket);
      // From here on the handshake has its own timeout.
      socket.setTimeout(0);
      socket.removeAllListeners('timeout');
      this.#options.begin(socket);
    }
  }

  #refuse(socket: Socket, reason: string): void {
    this.#options.refused(socket, new Error(reason));
    socket.destroy();
  }
}
