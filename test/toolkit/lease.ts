// Machine-wide exclusive leases on numbers (ports, subnets), so that test files running in
// parallel never hand out the same one. A lease is a bound abstract Unix socket: taking it is
// atomic, and the kernel releases it when the process dies. Lock files would need stale-owner
// detection, whose take-over is itself a race.
// Abstract names belong to the network namespace, exactly like the ports that they stand for.

import { createServer, type Server } from 'node:net';

export interface Lease extends AsyncDisposable {
  readonly number: number;
  release(): Promise<void>;
}

/** `undefined` when another process, or this one, holds it. */
export function tryLease(kind: string, number: number): Promise<Lease | undefined> {
  const server = createServer((socket) => socket.destroy());
  // The lease must not keep a finished test alive.
  server.unref();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if ('code' in error && error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(`\0bigfleet-test-${kind}-${number}`, () => resolve(leaseOn(server, number)));
  });
}

function leaseOn(server: Server, number: number): Lease {
  let released: Promise<void> | undefined;
  const release = (): Promise<void> => {
    released ??= new Promise((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)));
    });
    return released;
  };
  return { number, release, [Symbol.asyncDispose]: release };
}
