// Where the simulated provider listens, and the name by which both shards dial it. Capacity moves
// only behind an address that means one provider to the whole fleet, and a loopback address never
// does: it is another provider on every host (coordinator §7.5). So the host's own name is used where
// it leads back here, which keeps the provider private on most machines, else an address of one of
// its interfaces. A host with neither still runs the demo, without the move.

import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { type Runtime, runWithDeadline } from '@bigfleet/base';
import { HOST } from '../places.ts';

export interface ProviderAddress {
  readonly listenHost: string;
  readonly dialHost: string;
  /** Machines behind it can move between shards. */
  readonly isFleetWide: boolean;
}

const LOOKUP_WITHIN_MS = 1_000;
const LOCAL_NAMES: readonly string[] = ['', 'localhost'];

export async function providerAddress(runtime: Runtime): Promise<ProviderAddress> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = new Set(addresses.map(({ address }) => address));
  const name = hostname();
  const named = (await addressesOf(runtime, name)).find(
    (address) => own.has(address) || address.startsWith('127.'),
  );
  if (named !== undefined) return { listenHost: named, dialHost: name, isFleetWide: true };
  const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  if (outer !== undefined) return { listenHost: outer, dialHost: outer, isFleetWide: true };
  return { listenHost: HOST, dialHost: HOST, isFleetWide: false };
}

/** IPv4 only, and none when the name is nobody's or nobody answers in time. */
async function addressesOf(runtime: Runtime, name: string): Promise<readonly string[]> {
  if (LOCAL_NAMES.includes(name)) return [];
  const asked = runWithDeadline(runtime, { ms: LOOKUP_WITHIN_MS }, () =>
    lookup(name, { all: true, family: 4 }),
  );
  return await asked.then(
    (found) => found.map(({ address }) => address),
    () => [],
  );
}
