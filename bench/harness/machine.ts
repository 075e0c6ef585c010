// What the numbers were measured on and which sources they belong to.

import { execFileSync } from 'node:child_process';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { Machine } from './results.ts';

const GIT_TIMEOUT_MS = 30_000;

export function describeMachine(): Machine {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism(),
    memoryGiB: Math.round((totalmem() / 2 ** 30) * 10) / 10,
    node: process.version,
  };
}

/** The commit, with `-dirty` when the tree differs from it; `unknown` outside a checkout. */
export function describeRevision(root: string): string {
  const commit = git(root, ['rev-parse', '--verify', '--quiet', 'HEAD']);
  if (commit === undefined) return 'unknown';
  const changes = git(root, ['status', '--porcelain']);
  return changes === '' ? commit : `${commit}-dirty`;
}

function git(root: string, args: readonly string[]): string | undefined {
  try {
    const options = { cwd: root, encoding: 'utf8', timeout: GIT_TIMEOUT_MS } as const;
    return execFileSync('git', args, { ...options, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    // No git, no repository or no commit yet: all mean that the revision has no name.
    return undefined;
  }
}
