// The data directory: made when it is missing, owned by this process for its life. A second process
// on it would write the same epoch, and then no provider could tell the two apart.

import path from 'node:path';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { makeDirectory } from '../records/make-directory.ts';
import { type ExclusiveLock, exclusiveLock } from './exclusive-lock.ts';

const OWNER_ONLY = 0o700;

export interface DataDir {
  /** A file of it. */
  at(name: string): string;
  release(): void;
}

export async function openDataDir(directory: string): Promise<DataDir> {
  const at = (name: string): string => path.join(directory, name);
  await make(directory);
  const lock = take(at('shard.lock'));
  if (lock === 'held') {
    throw new BigFleetError('data_dir_locked', `another process holds ${at('shard.lock')}`);
  }
  return { at, release: () => lock.release() };
}

async function make(directory: string): Promise<void> {
  try {
    await makeDirectory(directory, OWNER_ONLY);
  } catch (cause) {
    throw unusable(`${directory} cannot be made`, cause);
  }
}

function take(file: string): ExclusiveLock | 'held' {
  try {
    return exclusiveLock(file);
  } catch (cause) {
    throw unusable(`${file} cannot be locked`, cause);
  }
}

function unusable(problem: string, cause: unknown): BigFleetError {
  return new BigFleetError('data_dir_unusable', `${problem}: ${describeThrown(cause)}`, { cause });
}
