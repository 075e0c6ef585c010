// The connections of one command: one channel per server, closed together at its end.

import type { Channel } from '@bigfleet/wire';
import type { ConnectOptions, Network } from './network.ts';

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
