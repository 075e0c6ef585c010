// The data directory of a coordinator: made when it is missing, owned by one process for its life,
// be that a server or an offline restore. Two of them on one directory would be two writers.

import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { type ExclusiveLock, exclusiveLock } from './exclusive-lock.ts';
import { hasRestoreMark } from './restore-mark.ts';

const LOCK_FILE = 'coordinator.lock';
const OWNER_ONLY = 0o700;

export interface DataDir {
  readonly directory: string;
  /** A file of it. */
  at(name: string): string;
  release(): void;
}

export interface TakeOptions {
  /** Only a restore may go on where a restore was cut off. */
  readonly forRestore?: boolean;
}

/**
 * Throws `coordinator_data_dir_in_use`, `coordinator_data_dir_unusable`, or, after an interrupted
 * restore, `coordinator_store_corrupt`.
 */
export function takeDataDir(directory: string, options: TakeOptions = {}): DataDir {
  const at = (name: string): string => path.join(directory, name);
  const lock = take(directory, at(LOCK_FILE));
  if (lock === 'held')
    throw new BigFleetError('coordinator_data_dir_in_use', `data dir is in use: ${directory}`);
  if (options.forRestore !== true && hasRestoreMark(directory)) {
    lock.release();
    const problem = `a restore into ${directory} was interrupted`;
    const advice = 'run bigfleetctl snapshot restore again';
    throw new BigFleetError('coordinator_store_corrupt', `${problem}; ${advice}`);
  }
  return { directory, at, release: () => lock.release() };
}

function take(directory: string, file: string): ExclusiveLock | 'held' {
  try {
    mkdirSync(directory, { recursive: true, mode: OWNER_ONLY });
    return exclusiveLock(file);
  } catch (cause) {
    const problem = `${directory} cannot be used: ${describeThrown(cause)}`;
    throw new BigFleetError('coordinator_data_dir_unusable', problem, { cause });
  }
}
