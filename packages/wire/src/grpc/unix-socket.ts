// A Unix socket is guarded by its file mode alone (security §1.1), so the mode must be
// right from the first instant: the umask is narrowed around the bind, which is
// synchronous, instead of a chmod that leaves a gap.
//
// A socket file that a crashed process left behind is removed, but only after a connect
// was refused: a live server's file is never taken from under it, and no other kind of
// file is ever removed.

import { lstat, unlink } from 'node:fs/promises';
import { connect } from 'node:net';

/** Removes a dead socket file. True when the path is free now. */
export async function freeSocketPath(path: string): Promise<boolean> {
  const kind = await kindOf(path);
  if (kind === 'absent') return true;
  if (kind === 'other' || (await isAlive(path))) return false;
  await unlink(path);
  return true;
}

/** Runs a synchronous bind so that the file it creates is 0600. */
export function withOwnerOnlyMode<T>(bind: () => T): T {
  const previous = process.umask(0o177);
  try {
    return bind();
  } finally {
    process.umask(previous);
  }
}

async function kindOf(path: string): Promise<'absent' | 'socket' | 'other'> {
  try {
    return (await lstat(path)).isSocket() ? 'socket' : 'other';
  } catch (error) {
    if (isMissing(error)) return 'absent';
    throw error;
  }
}

/** The kernel answers at once for a local socket: accepted, or nobody listens. */
function isAlive(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
