// The etcd that `make up ETCD=1` starts: the one that `make etcd` built, else the one on the PATH. The
// folder of what was built is the rule of the test toolkit, which ships with nothing; a test keeps the two
// equal.

import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

const sumFile = new URL('../../test/etcd/go.sum', import.meta.url);
const EXTRA_DIRS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

export const NO_ETCD: string =
  'ETCD=1 needs an etcd, and there is none: `make etcd` builds one (with Go), ' +
  '`sudo make deps` installs Debian’s';

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined when there is none. */
export function etcdBinary(env: Environment): string | undefined {
  const dirs = [builtFolder(env), ...(env['PATH'] ?? '').split(path.delimiter), ...EXTRA_DIRS];
  return dirs
    .filter((dir) => dir !== '')
    .map((dir) => path.join(dir, 'etcd'))
    .find(isExecutable);
}

function builtFolder(env: Environment): string {
  const sum = createHash('sha256').update(readFileSync(sumFile)).digest('hex');
  const base = env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return path.join(base, 'bigfleet', 'etcd', sum.slice(0, 16));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    // Not there or not for us: the same answer to the question asked.
    return false;
  }
}
