// Restores into managed etcd (coordinator §10.3 step 4): which way each kind of state takes. The
// caller holds the data-dir lock, so an etcd that still runs here is a dead coordinator's, and would
// go on with the files that are about to be replaced.

import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Runtime, BigFleetError, describeThrown } from '@bigfleet/base';
import type { EtcdBuild, EtcdRestore } from '../snapshots/restore-into-engine.ts';
import { buildFromRows } from './build-from-rows.ts';
import { endOrphan, pidFileOf } from './orphan.ts';

const revisionBump = 1_000_000_000;
const buildWithinMs = 10 * 60_000;

export interface EtcdRestoreTools {
  readonly runtime: Runtime;
  /** Name or path of the server, for a logical snapshot. */
  readonly etcd: string;
  /** Name or path of the tool, for a native one. */
  readonly etcdutl: string;
  /** The replicas' peer port speaks TLS. */
  readonly hasPeerTls: boolean;
  /** `--etcd-prefix` of the replicas; ends with a slash. */
  readonly prefix: string;
}

export function etcdRestore(tools: EtcdRestoreTools): EtcdRestore {
  return (build) => buildWith(tools, build);
}

async function buildWith(tools: EtcdRestoreTools, build: EtcdBuild): Promise<void> {
  const { runtime, etcdutl, hasPeerTls } = tools;
  const { raftAdvertise, source } = build;
  const pidFile = pidFileOf(build.dataDir);
  await endOrphan(runtime, pidFile);
  const peerUrl = `${hasPeerTls ? 'https' : 'http'}://${raftAdvertise}`;
  if (source.kind === 'native') await buildFromSnapshot(etcdutl, source.file, build, peerUrl);
  else await buildFromRows({ ...tools, ...build, peerUrl, state: source.state, pidFile });
}

const run = promisify(execFile);

/**
 * A cluster of one from a native snapshot (coordinator §10.3 step 4), by etcd's own tool. Revisions
 * are raised so that no watcher or cached revision sees time run backwards. Term and ledger
 * generation stay as they are inside the database: the first election raises them.
 */
async function buildFromSnapshot(
  etcdutl: string,
  snapshotFile: string,
  { directory, nodeId }: EtcdBuild,
  peerUrl: string,
): Promise<void> {
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
