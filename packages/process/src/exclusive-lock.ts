// One process per file, by a lock of the kernel. SQLite, which Node carries, takes POSIX record
// locks on its database file; holding `BEGIN EXCLUSIVE` open on an empty one is that lock and
// nothing else. The kernel drops it when the holder dies, kill -9 included, so there is no stale
// lock to judge and no pid to mistake for another's. It is bound to the file, not to a namespace:
// two pods on one volume see each other, which abstract sockets and pid files do not give.
// The file stays behind on purpose: removing it would let two processes lock two different files.

import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

const SQLITE_BUSY = 5;
const OWNER_ONLY = 0o600;

/** A database that nothing refers to is closed by the garbage collector, and its lock goes with it. */
const held = new Set<DatabaseSync>();

export interface ExclusiveLock {
  release(): void;
}

export function exclusiveLock(path: string): ExclusiveLock | 'held' {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // By path: closing a second descriptor of the file would drop the locks of this process.
    chmodSync(path, OWNER_ONLY);
    // In memory, or SQLite would leave a journal file of its own beside the lock.
    database.exec('PRAGMA journal_mode = MEMORY');
    database.exec('BEGIN EXCLUSIVE');
  } catch (error) {
    database.close();
    if (isBusy(error)) return 'held';
    throw error;
  }
  held.add(database);
  return {
    release: () => {
      held.delete(database);
      database.close();
    },
  };
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
