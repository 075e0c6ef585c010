// One or three real etcd members for a test, of the version that `make etcd` built (else Debian's):
// own ports and data directories, killed, paused, restarted and partitioned one by one.

import {
  type EtcdCluster,
  type EtcdOptions,
  type Place,
  startEtcd as startWithPlaces,
} from '../toolkit/index.ts';
import { etcdBinaries } from './binaries.ts';

export type StartEtcdOptions = Omit<EtcdOptions, 'memberCount'>;

/** Resolves when every member is healthy. `await using` it. */
export function startEtcd(
  memberCount: 1 | 3,
  options: StartEtcdOptions = {},
): Promise<EtcdCluster> {
  const places = Array.from({ length: memberCount }, (_, at) => withBinary(options.places?.[at]));
  return startWithPlaces({ ...options, memberCount, places });
}

/** The toolkit starts the `etcd` of the PATH; a place may start another one instead. */
function withBinary(place: Place | undefined): Place {
  const { etcd } = etcdBinaries();
  return {
    address: place?.address ?? '127.0.0.1',
    command: (_path, args) => place?.command(etcd, args) ?? { command: etcd, args },
  };
}
