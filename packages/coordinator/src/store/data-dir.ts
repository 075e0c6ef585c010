// The data directory of a coordinator: owned by one process for its life, be that a server or an
// offline restore. Two of them on one directory would be two writers.

import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import { type DataDir, type DataDirRefusal, takeDataDir as take } from '@bigfleet/process';

const LOCK_FILE = 'coordinator.lock';
const MARK_FILE = 'restore-in-progress';

/**
 * Throws `coordinator_data_dir_in_use`, `coordinator_data_dir_unusable`, or, after an interrupted
 * restore, `coordinator_store_corrupt`: only a restore may go on where a restore was cut off.
 */
export function takeDataDir(
  directory: string,
  { forRestore = false }: { readonly forRestore?: boolean } = {},
): DataDir {
  const refuse = (refusal: DataDirRefusal): BigFleetError => refused(directory, refusal);
  const dataDir = take({ directory, lockName: LOCK_FILE, refuse });
  if (!forRestore && existsSync(path.join(directory, MARK_FILE))) {
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

/**
 * The mark of a restore under way: from the moment the old engine state is touched until the new
 * one is complete, a coordinator must not start here. It would find half of each, or an old
 * database without its log, and serve it. The same restore, run again, starts over and removes the
 * mark.
 */
export function setRestoreMark(directory: string): void {
  writeFileSync(path.join(directory, MARK_FILE), '', { flush: true });
}

export function clearRestoreMark(directory: string): void {
  rmSync(path.join(directory, MARK_FILE), { force: true });
}
