// Every address that `--join-addr` stands for, asked of the system anew at each call, in random order:
// a headless name leads to all replicas, and a connection to one of them says nothing about the others.
// Behind one address (a Service with its own, a balancer) each dial lands somewhere, so it is tried a
// few times.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { orAborted, type Random } from '@bigfleet/base';

/** More replicas than anybody runs. */
const MAX_ADDRESSES = 16;
const DIALS_OF_ONE_ADDRESS = 4;

export interface ReplicaAddress {
  readonly target: string;
  /** What the certificate must carry when the target is a number that a name resolved to. */
  readonly serverName?: string;
}

export async function replicaAddresses(
  address: string,
  random: Random,
  signal: AbortSignal,
): Promise<ReplicaAddress[]> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const found = isIP(host) === 0 ? await orAborted(lookup(host, { all: true }), signal) : [];
  if (found.length < 2)
    return Array.from({ length: DIALS_OF_ONE_ADDRESS }, () => ({ target: address }));
  const port = address.slice(at + 1);
  return found
    .slice(0, MAX_ADDRESSES)
    .map(({ address: ip, family }) => ({
      target: family === 6 ? `[${ip}]:${port}` : `${ip}:${port}`,
      serverName: host,
      order: random.below(1_000_000),
    }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ target, serverName }) => ({ target, serverName }));
}
