// A free TCP port on loopback. Whoever is told a port binds it a moment later, so it can be lost
// in between: boot.ts tries another one when the log says that the address is in use.

import { createServer } from 'node:net';
import { BigFleetError } from '@bigfleet/base';

const LOOPBACK = '127.0.0.1';
const MAX_PROBES = 200;

export class FreePorts {
  #next: number;

  /** Upwards from `base`; 0 leaves the choice to the system. */
  constructor(base: number) {
    this.#next = base;
  }

  /** `127.0.0.1:port`; never the same twice from one base. */
  async address(): Promise<string> {
    if (this.#next === 0) return anyAddress();
    for (let probe = 0; probe < MAX_PROBES && this.#next <= 65_535; probe += 1) {
      const port = this.#next;
      this.#next += 1;
      if ((await tryBind(port)) !== undefined) return `${LOOPBACK}:${port}`;
    }
    throw new BigFleetError('address_in_use', `no free port below ${this.#next}`);
  }
}

async function anyAddress(): Promise<string> {
  const port = await tryBind(0);
  if (port === undefined) throw new BigFleetError('address_in_use', 'no free port at all');
  return `${LOOPBACK}:${port}`;
}

/** The bound port, or undefined when it is taken. */
function tryBind(port: number): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      const isTaken = 'code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES');
      if (isTaken) resolve(undefined);
      else reject(error);
    });
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => {
      const bound = server.address();
      const number = bound !== null && typeof bound === 'object' ? bound.port : undefined;
      server.close((error) => (error === undefined ? resolve(number) : reject(error)));
    });
  });
}
