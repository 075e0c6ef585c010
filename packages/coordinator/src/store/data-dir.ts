// The data directory of a coordinator: owned by one process for its life, be that a server or an
// offline restore. Two of them on one directory would be two writers.

import { BigFleetError, describeThrown } from '@bigfleet/base';
import { type DataDir, type DataDirRefusal, takeDataDir as take } from '@bigfleet/process';
import { hasRestoreMark } from './restore-mark.ts';

const LOCK_FILE = 'coordinator.lock';

export interface TakeOptions {
  /** Only a restore may go on where a restore was cut off. */
  readonly forRestore?: boolean;
}

/**
 * Throws `coordinator_data_dir_in_use`, `coordinator_data_dir_unusable`, or, after an interrupted
 * restore, `coordinator_store_corrupt`.
 */
export function takeDataDir(directory: string, options: TakeOptions = {}): DataDir {
  const refuse = (refusal: DataDirRefusal): BigFleetError => refused(directory, refusal);
  const dataDir = take({ directory, lockName: LOCK_FILE, refuse });
  if (options.forRestore !== true && hasRestoreMark(directory)) {
    dataDir.release();
    const problem = `a restore into ${directory} was interrupted`;
    const advice = 'run bigfleetctl snapshot restore again';
    throw new BigFleetError('coordinator_store_corrupt', `${problem}; ${advice}`);
  }
  return dataDir;
}

function refused(directory: string, refusal: DataDirRefusal): BigFleetError {
  if (refusal.kind === 'held')
    return new BigFleetError('coordinator_data_dir_in_use', `data dir is in use: ${directory}`);
  const problem = `${directory} cannot be used: ${describeThrown(refusal.cause)}`;
  return new BigFleetError('coordinator_data_dir_unusable', problem, { cause: refusal.cause });
}
