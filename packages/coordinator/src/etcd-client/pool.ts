// The endpoints and which of them is in use. One at a time: requests of one leader then travel one
// path, and a member that answers slowly is left by its callers together, not one by one.

import { assert } from '@bigfleet/base';
import type { Connection } from './connection.ts';

export class ConnectionPool {
  readonly #connections: readonly Connection[];
  #at = 0;
  #moveCount = 0;

  constructor(connections: readonly Connection[]) {
    assert(connections.length > 0, 'an etcd client needs an endpoint');
    this.#connections = connections;
  }

  get size(): number {
    return this.#connections.length;
  }

  /** How often an endpoint was left because it failed. */
  get moveCount(): number {
    return this.#moveCount;
  }

  get current(): Connection {
    const connection = this.#connections[this.#at];
    assert(connection !== undefined, 'the endpoint in use exists', { at: this.#at });
    return connection;
  }

  get all(): readonly Connection[] {
    return this.#connections;
  }

  /** Nothing when others have already left it: two failures of one endpoint skip no third one. */
  leave(failed: Connection): void {
    if (this.current !== failed || this.size === 1) return;
    this.#at = (this.#at + 1) % this.size;
    this.#moveCount += 1;
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
