// A cluster of one from a native snapshot (coordinator §10.3 step 4), by etcd's own tool. Revisions
// are raised so that no watcher or cached revision sees time run backwards. Term and ledger
// generation stay as they are inside the database: the first election raises them.

import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { BigFleetError, describeThrown } from '@bigfleet/base';

const revisionBump = 1_000_000_000;
const buildWithinMs = 10 * 60_000;
const run = promisify(execFile);

export interface SnapshotBuild {
  readonly etcdutl: string;
  /** The `state` of the archive: etcd's database with its checksum trailer. */
  readonly snapshotFile: string;
  /** Must not exist; holds the whole cluster afterwards, or is gone again. */
  readonly directory: string;
  readonly nodeId: string;
  readonly peerUrl: string;
}

export async function buildFromSnapshot(build: SnapshotBuild): Promise<void> {
  const { etcdutl, snapshotFile, directory, nodeId, peerUrl } = build;
  const args = [
    'snapshot',
    'restore',
    snapshotFile,
    `--name=${nodeId}`,
    `--initial-cluster=${nodeId}=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--data-dir=${directory}`,
    `--bump-revision=${revisionBump}`,
    '--mark-compacted',
  ];
  try {
    await run(etcdutl, args, { timeout: buildWithinMs });
  } catch (cause) {
    rmSync(directory, { recursive: true, force: true });
    const detail = describeThrown(cause);
    throw new BigFleetError('etcd_restore_failed', `etcdutl snapshot restore: ${detail}`, {
      cause,
    });
  }
}
