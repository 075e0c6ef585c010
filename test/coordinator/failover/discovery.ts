// How shards find the coordinators. With namespaces, where all replicas listen on one port at
// addresses of their own: a name, as a headless Service has. On loopback: the front door.

import type { PartitionBackend } from '../../toolkit/index.ts';
import type { CoordinatorProcess } from './coordinator-process.ts';
import { FrontDoor } from './front-door.ts';

const NAME = 'coordinators';

export interface Discovery {
  /** For `--coordinator-addr`. */
  readonly address: string;
  /** A hosts file in which the address means something; undefined: any will do. */
  readonly hosts: string | undefined;
}

export async function discoveryOf(
  replicas: readonly CoordinatorProcess[],
  backend: PartitionBackend,
  opening: AsyncDisposableStack,
): Promise<Discovery> {
  const addresses = replicas.map(({ address }) => address);
  if (backend === 'proxy') {
    const door = opening.use(await FrontDoor.open(() => addresses));
    return { address: door.address, hosts: undefined };
  }
  const ports = new Set(addresses.map((each) => each.slice(each.lastIndexOf(':') + 1)));
  const [port] = ports;
  if (port === undefined || ports.size > 1) throw new Error('one name needs one port');
  const lines = addresses.map((each) => `${each.slice(0, each.lastIndexOf(':'))} ${NAME}\n`);
  return { address: `${NAME}:${port}`, hosts: `127.0.0.1 localhost\n${lines.join('')}` };
}
