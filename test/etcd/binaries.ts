// Where the real etcd of the tests is. `make etcd` builds etcd and etcdutl of the version in go.mod
// into a cache folder outside the repository, one folder per go.sum; without a Go toolchain the
// Debian package's etcd is used and there is no etcdutl (native restore is then a counted skip).
// Building is never done by a test: ten files would build at once.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  requireCommand,
  type EtcdCluster,
  type EtcdOptions,
  type Place,
  startEtcd as startWithPlaces,
} from '../toolkit/index.ts';

export const moduleFolder: string = fileURLToPath(new URL('.', import.meta.url));

export interface EtcdBinaries {
  readonly etcd: string;
  /** Absent with Debian's server. */
  readonly etcdutl: string | undefined;
}

/** The binaries of this go.sum; another version of the module is another folder. */
export function cacheFolder(): string {
  const sum = createHash('sha256').update(readFileSync(join(moduleFolder, 'go.sum')));
  const base = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return join(base, 'bigfleet', 'etcd', sum.digest('hex').slice(0, 16));
}

export function etcdBinaries(): EtcdBinaries {
  const built = join(cacheFolder(), 'etcd');
  const etcdutl = join(cacheFolder(), 'etcdutl');
  if (existsSync(built) && existsSync(etcdutl)) return { etcd: built, etcdutl };
  return { etcd: requireCommand('etcd'), etcdutl: undefined };
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
