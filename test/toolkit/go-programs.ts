// Real servers that tests start and no package brings: built from the Go module that pins them, into a cache
// folder outside the repository, one folder per go.sum. Building is never done by a test: ten files would
// build at once. A program appears by one rename, so that a build that was cut off is never taken for a
// whole one.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface GoModule {
  /** Of the cache folder. */
  readonly name: string;
  /** Absolute; holds go.mod and go.sum. */
  readonly folder: string;
  /** File name of each program and its package. */
  readonly programs: Readonly<Record<string, string>>;
  /** Variables of the programs that their own build sets, such as the version that they tell. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
}

export type BuildResult =
  | { readonly kind: 'present' | 'built'; readonly folder: string }
  | { readonly kind: 'failed'; readonly problem: string };

/** Longer than any program takes on a machine with two busy cores. */
const BUILD_WITHIN_MS = 45 * 60_000;

/** The programs of this go.sum; another version of the module is another folder. */
export function goCacheFolder({ name, folder }: Pick<GoModule, 'name' | 'folder'>): string {
  const sum = createHash('sha256').update(readFileSync(join(folder, 'go.sum')));
  const base = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return join(base, 'bigfleet', name, sum.digest('hex').slice(0, 16));
}

/** Path of each program; undefined unless all of them are there. */
export function builtPrograms(module: GoModule): Readonly<Record<string, string>> | undefined {
  return programsIn(goCacheFolder(module), module);
}

function programsIn(
  folder: string,
  { programs }: Pick<GoModule, 'programs'>,
): Readonly<Record<string, string>> | undefined {
  const paths = Object.keys(programs).map((name) => [name, join(folder, name)] as const);
  return paths.every(([, path]) => existsSync(path)) ? Object.fromEntries(paths) : undefined;
}

export function buildGoPrograms(module: GoModule): BuildResult {
  const folder = goCacheFolder(module);
  const missing = Object.entries(module.programs).filter(
    ([name]) => !existsSync(join(folder, name)),
  );
  if (missing.length === 0) return { kind: 'present', folder };
  mkdirSync(folder, { recursive: true });
  const staging = mkdtempSync(join(folder, '.building-'));
  try {
    for (const [name, source] of missing) {
      const problem = build(module, source, join(staging, name));
      if (problem !== undefined) return { kind: 'failed', problem };
      renameSync(join(staging, name), join(folder, name));
    }
    return { kind: 'built', folder };
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}

/** Undefined when it worked. */
function build(module: GoModule, source: string, output: string): string | undefined {
  const { folder, variables = {} } = module;
  const set = Object.entries(variables).map(([name, value]) => ` -X ${name}=${value}`);
  const args = ['build', '-trimpath', `-ldflags=-s -w${set.join('')}`, '-o', output, source];
  const result = spawnSync('go', args, {
    cwd: folder,
    encoding: 'utf8',
    timeout: BUILD_WITHIN_MS,
    env: { ...process.env, CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false' },
  });
  if (result.error !== undefined) {
    const isAbsent = 'code' in result.error && result.error.code === 'ENOENT';
    return isAbsent ? 'there is no go on the PATH' : result.error.message;
  }
  return result.status === 0 ? undefined : result.stderr.trim().split('\n').slice(-3).join(' | ');
}
