// Endpoints that are no providers: one that accepts and says nothing, one that talks nonsense.

import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

export interface BadPeer {
  readonly target: string;
  readonly close: () => void;
}

export function silentPeer(): Promise<BadPeer> {
  return listen(() => {});
}

export function garbagePeer(): Promise<BadPeer> {
  return listen((socket) => {
    socket.on('data', () => socket.end('SSH-2.0-not-a-provider\r\n\0\u0001\u0002'));
  });
}

async function listen(greet: (socket: Socket) => void): Promise<BadPeer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    // Its peer may be gone first; that is the point of a bad peer.
    socket.on('error', () => socket.destroy());
    greet(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    target: `127.0.0.1:${port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
