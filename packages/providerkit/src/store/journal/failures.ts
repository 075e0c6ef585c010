// The three ways in which the store refuses, worded for whoever has to act. A store that can't be
// read never becomes an empty one: lost fence marks would let a zombie shard in again.

import { BigFleetError, describeThrown } from '@bigfleet/base';

export function corrupt(path: string, problem: string, cause?: unknown): BigFleetError {
  const text =
    `state file ${path}: ${problem}. Loading it would lose acknowledged changes. Restore the ` +
    'state directory from a backup; only to start from nothing, move its files away';
  return new BigFleetError('store_corrupt', text, { fields: { path }, cause });
}

export function locked(path: string, lockPath: string): BigFleetError {
  const text =
    `state ${path} is in use by another process, which holds ${lockPath}. Stop that process ` +
    'first: run one replica, with the Recreate strategy';
  return new BigFleetError('store_locked', text, { fields: { path, lockPath } });
}

export function unavailable(problem: string, cause?: unknown): BigFleetError {
  const why = cause === undefined ? '' : `: ${describeThrown(cause)}`;
  return new BigFleetError('store_unavailable', `${problem}${why}`, { cause });
}
