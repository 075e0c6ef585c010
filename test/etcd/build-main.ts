// `make etcd`: builds etcd and etcdutl of go.mod into the cache folder, once per go.sum. Without Go,
// or without its module proxy, it says so and succeeds: the tests then run on Debian's etcd.
// The folder appears by one rename, so that a build that was cut off is never taken for a whole one.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cacheFolder, moduleFolder } from './binaries.ts';

const BUILD_WITHIN_MS = 15 * 60_000;
const programs = {
  etcd: 'go.etcd.io/etcd/server/v3',
  etcdutl: 'go.etcd.io/etcd/etcdutl/v3',
} as const;

function main(): string {
  const folder = cacheFolder();
  if (existsSync(folder)) return `etcd: already built in ${folder}`;
  mkdirSync(dirname(folder), { recursive: true });
  const staging = mkdtempSync(`${folder}-`);
  try {
    for (const [name, source] of Object.entries(programs)) {
      const problem = build(source, join(staging, name));
      if (problem !== undefined) return `etcd: not built, Debian's will be used: ${problem}`;
    }
    if (!existsSync(folder)) renameSync(staging, folder);
    return `etcd: built into ${folder}`;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Undefined when it worked. */
function build(source: string, output: string): string | undefined {
  const result = spawnSync('go', ['build', '-trimpath', '-o', output, source], {
    cwd: moduleFolder,
    encoding: 'utf8',
    timeout: BUILD_WITHIN_MS,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
  });
  if (result.error !== undefined) return result.error.message;
  return result.status === 0 ? undefined : result.stderr.trim().split('\n').slice(-3).join(' | ');
}

console.log(main());
