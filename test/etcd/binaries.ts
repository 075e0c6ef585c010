// Where the real etcd of the tests is. `make etcd` builds etcd and etcdutl of the version in go.mod
// into a cache folder outside the repository, one folder per go.sum; without a Go toolchain the
// Debian package's etcd is used and there is no etcdutl (native restore is then a counted skip).

import { fileURLToPath } from 'node:url';
import {
  builtPrograms,
  type EtcdCluster,
  type EtcdOptions,
  type GoModule,
  type Place,
  requireCommand,
  startEtcd as startWithPlaces,
} from '../toolkit/index.ts';

export const ETCD_MODULE: GoModule = {
  name: 'etcd',
  folder: fileURLToPath(new URL('.', import.meta.url)),
  programs: {
    etcd: 'go.etcd.io/etcd/server/v3',
    etcdutl: 'go.etcd.io/etcd/etcdutl/v3',
  },
};

export interface EtcdBinaries {
  readonly etcd: string;
  /** Absent with Debian's server. */
  readonly etcdutl: string | undefined;
}

export function etcdBinaries(): EtcdBinaries {
  const { etcd, etcdutl } = builtPrograms(ETCD_MODULE) ?? {};
  return { etcd: etcd ?? requireCommand('etcd'), etcdutl };
}

export type StartEtcdOptions = Omit<EtcdOptions, 'memberCount'>;

/**
 * One or three real etcd members for a test, of the version that `make etcd` built (else Debian's):
 * own ports and data directories, killed, paused, restarted and partitioned one by one. Resolves
 * when every member is healthy. `await using` it.
 */
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
