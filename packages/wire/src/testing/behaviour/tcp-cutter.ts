// A TCP relay whose connections can be cut, so that a peer's death can be shown to both ends
// of a real connection inside one process.

import { createServer, connect as dial, type Server, type Socket } from 'node:net';

export interface TcpCutter {
  /** Where to connect instead of the target. */
  readonly address: string;
  /** Resets every connection; new ones are relayed. */
  cut(): void;
  close(): Promise<void>;
}

export async function startTcpCutter(target: string): Promise<TcpCutter> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => relay(near, target, sockets));
  const port = await listen(server);
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    address: `127.0.0.1:${port}`,
    cut,
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function relay(near: Socket, target: string, sockets: Set<Socket>): void {
  const [host, port] = splitAddress(target);
  const far = dial({ host, port, noDelay: true });
  near.setNoDelay(true);
  for (const [socket, other] of [
    [near, far],
    [far, near],
  ] as const) {
    sockets.add(socket);
    socket.pipe(other);
    // The error itself is expected here: what it means to the ends is what the tests ask.
    socket.on('error', () => other.destroy());
    socket.on('close', () => {
      sockets.delete(socket);
      other.destroy();
    });
  }
}

function splitAddress(address: string): [string, number] {
  const colon = address.lastIndexOf(':');
  return [address.slice(0, colon), Number(address.slice(colon + 1))];
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new TypeError('no TCP port'));
      else resolve(address.port);
    });
  });
}
