// A cluster of one from the rows of a logical snapshot (coordinator §3.7, §10.3): etcd itself writes
// its files, run for a moment on Unix sockets in a folder of its own, so that no port is opened and
// nobody else can be reached by mistake. Everything is read back before the result counts; a failure
// leaves nothing. Term and ledger generation are written as they were: the first election raises
// them.

import { rmSync } from 'node:fs';
import { BigFleetError, describeThrown, type Runtime, runWithDeadline } from '@bigfleet/base';
import { EtcdClient } from '../etcd-client/index.ts';
import { KeySpace } from '../store/etcd/key-space.ts';
import { loadLedger } from '../store/etcd/load.ts';
import { writeWholeState } from '../store/etcd/write-state.ts';
import type { LoadedState, StoredRow } from '../state/writes.ts';
import { startOfflineEtcd } from './offline-etcd.ts';

const buildWithinMs = 10 * 60_000;

export interface RowsBuild {
  readonly runtime: Runtime;
  readonly etcd: string;
  readonly state: LoadedState;
  /** Must not exist; holds the whole cluster afterwards, or is gone again. */
  readonly directory: string;
  readonly nodeId: string;
  readonly peerUrl: string;
  /** Ends with a slash. */
  readonly prefix: string;
  /** Where the server's process id is noted while it runs: an interrupted build leaves no orphan. */
  readonly pidFile: string;
}

export async function buildFromRows(build: RowsBuild): Promise<void> {
  const { runtime, directory } = build;
  try {
    await using server = startOfflineEtcd(build);
    const limits = { ms: buildWithinMs, parent: server.ended };
    await runWithDeadline(runtime, limits, (signal) => fill(build, server.endpoint, signal));
    await server.stop();
  } catch (cause) {
    rmSync(directory, { recursive: true, force: true });
    const detail = describeThrown(cause);
    throw new BigFleetError('etcd_restore_failed', `writing into etcd: ${detail}`, { cause });
  }
}

async function fill(build: RowsBuild, endpoint: string, signal: AbortSignal): Promise<void> {
  const { runtime, state, prefix } = build;
  const client = new EtcdClient({ runtime, endpoints: [endpoint] });
  try {
    const keys = new KeySpace(prefix);
    await writeWholeState(client, keys, state, signal);
    const written = await loadLedger(client, keys, signal);
    const isWhole =
      written.clusterUid === state.meta.clusterUid && isSame(written.rows, state.rows);
    if (!isWhole) throw new BigFleetError('etcd_refused', 'what was written is not what is there');
  } finally {
    client.close();
  }
}

function isSame(written: readonly StoredRow[], wanted: readonly StoredRow[]): boolean {
  const values = new Map(written.map(({ key, value }) => [key, value]));
  return (
    written.length === wanted.length && wanted.every(({ key, value }) => values.get(key) === value)
  );
}
