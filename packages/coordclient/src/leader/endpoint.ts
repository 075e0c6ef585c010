// Where a coordinator replica can be reached, and under which name its certificate must be.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { orAborted } from '@bigfleet/base';

export interface Endpoint {
  /** `host:port` with a name or an address in it, or `unix:/path`. */
  readonly address: string;
  /** The name to verify when the address is one that a name resolved to. */
  readonly serverName?: string;
}

/** Fresh at every call: a name may lead elsewhere since. */
export type Resolve = (address: string, signal: AbortSignal) => Promise<readonly Endpoint[]>;

/**
 * Every address behind the coordinator's name, asked of the system at each call: a headless Service
 * changes with its pods, and a client that keeps an old answer talks to nobody.
 */
export const resolveByDns: Resolve = async (address, signal) => {
  const split = splitHostPort(address);
  if (split === undefined || isIP(split.host) !== 0) return [{ address }];
  const { host, port } = split;
  const found = await orAborted(lookup(host, { all: true }), signal);
  return found.map(
    ({ address: ip, family }): Endpoint => ({
      address: family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`,
      serverName: host,
    }),
  );
};

function splitHostPort(address: string): { host: string; port: string } | undefined {
  if (address.startsWith('unix:')) return undefined;
  const at = address.lastIndexOf(':');
  if (at <= 0) return undefined;
  return { host: address.slice(0, at).replace(/^\[|\]$/g, ''), port: address.slice(at + 1) };
}
