// Free TCP ports for servers that must be told their port. The usual trick, bind to port 0 and
// close, races: until the server binds, the kernel may give that port to any outgoing connection.
// So ports come from outside the kernel's ephemeral range, are leased machine-wide against other
// test processes, and are probed against everyone else. A lease outlives restarts of the server.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { type Lease, tryLease } from './lease.ts';

const LOWEST_PORT = 10_240;
const MAX_ATTEMPTS = 2_000;
/** Neighbouring processes start far apart, so that they rarely probe the same ports. */
const STRIDE = 37;

export interface PortRange {
  readonly first: number;
  readonly count: number;
}

export interface PortLease extends AsyncDisposable {
  readonly port: number;
  release(): Promise<void>;
}

export async function leasePort(): Promise<PortLease> {
  const range = leasableRange(readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8'));
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const port = range.first + ((process.pid * STRIDE + attempt) % range.count);
    const lease = await tryLease('port', port);
    if (lease === undefined) continue;
    if (await isFree(port)) return portLease(lease);
    await lease.release();
  }
  throw new Error(`no free port among ${MAX_ATTEMPTS} tried from ${range.first}`);
}

export async function leasePorts(count: number): Promise<readonly PortLease[]> {
  const leases: PortLease[] = [];
  for (let taken = 0; taken < count; taken += 1) leases.push(await leasePort());
  return leases;
}

/** The larger part of [10240, 65535] that the kernel never gives out by itself. */
export function leasableRange(ipLocalPortRange: string): PortRange {
  const [low, high] = ipLocalPortRange.trim().split(/\s+/).map(Number);
  if (low === undefined || high === undefined || !(low <= high)) {
    throw new Error(`unreadable ephemeral port range: ${JSON.stringify(ipLocalPortRange)}`);
  }
  const below = { first: LOWEST_PORT, count: Math.max(0, low - LOWEST_PORT) };
  const above = { first: Math.max(high + 1, LOWEST_PORT), count: Math.max(0, 65_535 - high) };
  const range = below.count >= above.count ? below : above;
  if (range.count < 100) {
    throw new Error(
      `ephemeral ports ${low}-${high} leave no room for tests; ` +
        "run: sysctl -w net.ipv4.ip_local_port_range='32768 60999'",
    );
  }
  return range;
}

function portLease(lease: Lease): PortLease {
  return {
    port: lease.number,
    release: () => lease.release(),
    [Symbol.asyncDispose]: () => lease.release(),
  };
}

/** Binds the wildcard, which also fails when only one address of the machine has it in use. */
function isFree(port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      if ('code' in error && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) {
        resolve(false);
      } else reject(error);
    });
    server.listen({ port, host: '0.0.0.0', exclusive: true }, () => {
      server.close((error) => (error === undefined ? resolve(true) : reject(error)));
    });
  });
}
