// A data directory: made when it is missing, for its owner only, and held by one process for its
// life. Two processes on one directory would be two writers: the same epoch twice, or two histories
// of one fleet. How a refusal is worded, and under which code, is the command's to say.

import path from 'node:path';
import { describeThrown } from '@bigfleet/base';
import { type ExclusiveLock, exclusiveLock } from './exclusive-lock.ts';
import { makeDirectorySync } from './make-directory.ts';

const OWNER_ONLY = 0o700;

export interface DataDir {
  readonly directory: string;
  /** A file of it. */
  at(name: string): string;
  release(): void;
}

export type DataDirRefusal =
  | { readonly kind: 'held'; readonly lockFile: string }
  | { readonly kind: 'unusable'; readonly problem: string; readonly cause: unknown };

export interface DataDirOptions {
  readonly directory: string;
  /** Name of the lock file in it. */
  readonly lockName: string;
  readonly refuse: (refusal: DataDirRefusal) => Error;
}

export function takeDataDir({ directory, lockName, refuse }: DataDirOptions): DataDir {
  const at = (name: string): string => path.join(directory, name);
  const lockFile = at(lockName);
  const attempt = <T>(problem: string, work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw refuse({ kind: 'unusable', problem: `${problem}: ${describeThrown(cause)}`, cause });
    }
  };
  attempt(`${directory} cannot be made`, () => makeDirectorySync(directory, OWNER_ONLY));
  const lock = attempt<ExclusiveLock | 'held'>(`${lockFile} cannot be locked`, () =>
    exclusiveLock(lockFile),
  );
  if (lock === 'held') throw refuse({ kind: 'held', lockFile });
  return { directory, at, release: () => lock.release() };
}
