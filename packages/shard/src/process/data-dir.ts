// The data directory of a shard. A second process on it would write the same epoch, and then no
// provider could tell the two apart.

import { BigFleetError } from '@bigfleet/base';
import { type DataDir, takeDataDir } from '@bigfleet/process';

export function openDataDir(directory: string): DataDir {
  return takeDataDir({
    directory,
    lockName: 'shard.lock',
    refuse: (refusal) =>
      refusal.kind === 'held'
        ? new BigFleetError('data_dir_locked', `another process holds ${refusal.lockFile}`)
        : new BigFleetError('data_dir_unusable', refusal.problem, { cause: refusal.cause }),
  });
}
