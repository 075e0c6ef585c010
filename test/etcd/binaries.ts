// Where the real etcd of the tests is. `make etcd` builds etcd and etcdutl of the version in go.mod
// into a cache folder outside the repository, one folder per go.sum; without a Go toolchain the
// Debian package's etcd is used and there is no etcdutl (native restore is then a counted skip).
// Building is never done by a test: ten files would build at once.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requireCommand } from '../toolkit/index.ts';

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
