// A name or address of this host that is not loopback: behind a loopback address nothing ever moves
// between shards, because it is another provider on every host (coordinator §7.5). The host's own
// name is preferred: on most machines it leads to loopback all the same, and nobody else is served.

import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { ATTEMPT_MS, withDeadline } from '../../toolkit/index.ts';

export interface FleetHost {
  readonly listen: string;
  readonly dial: string;
}

export const NO_FLEET_HOST = 'this host has neither a name that leads to it nor an interface';

/** Undefined where there is none: what is moved then can't be tested here. */
export async function findFleetHost(): Promise<FleetHost | undefined> {
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const own = new Set(addresses.map(({ address }) => address));
  const name = hostname();
  const named = (await addressesOf(name)).find((each) => own.has(each) || each.startsWith('127.'));
  if (named !== undefined) return { listen: named, dial: name };
  const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
  return outer === undefined ? undefined : { listen: outer, dial: outer };
}

async function addressesOf(name: string): Promise<readonly string[]> {
  if (name === '' || name === 'localhost') return [];
  const asked = withDeadline('look up the own name', ATTEMPT_MS, () =>
    lookup(name, { all: true, family: 4 }),
  );
  return await asked.then(
    (found) => found.map(({ address }) => address),
    () => [],
  );
}
