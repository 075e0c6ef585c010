// Restores into managed etcd (coordinator §10.3 step 4): which way each kind of state takes. The
// caller holds the data-dir lock, so an etcd that still runs here is a dead coordinator's, and would
// go on with the files that are about to be replaced.

import type { Runtime } from '@bigfleet/base';
import type { EtcdBuild, EtcdRestore } from '../snapshots/restore-into-etcd.ts';
import { buildFromRows } from './build-from-rows.ts';
import { buildFromSnapshot } from './build-from-snapshot.ts';
import { endOrphan, pidFileOf } from './orphan.ts';

export interface EtcdRestoreTools {
  readonly runtime: Runtime;
  /** Name or path of the server, for a logical snapshot. */
  readonly etcd: string;
  /** Name or path of the tool, for a native one. */
  readonly etcdutl: string;
  /** The replicas' peer port speaks TLS. */
  readonly hasPeerTls: boolean;
  /** `--etcd-prefix` of the replicas. */
  readonly prefix: string;
}

export function etcdRestore(tools: EtcdRestoreTools): EtcdRestore {
  return { build: (build) => buildWith(tools, build) };
}

async function buildWith(tools: EtcdRestoreTools, build: EtcdBuild): Promise<void> {
  const { hasPeerTls, ...programs } = tools;
  const { directory, nodeId, raftAdvertise, source } = build;
  const pidFile = pidFileOf(build.dataDir);
  await endOrphan(tools.runtime, pidFile);
  const peerUrl = `${hasPeerTls ? 'https' : 'http'}://${raftAdvertise}`;
  const cluster = { ...programs, directory, nodeId, peerUrl };
  if (source.kind === 'native') await buildFromSnapshot({ ...cluster, snapshotFile: source.file });
  else await buildFromRows({ ...cluster, state: source.state, pidFile });
}
