// A cluster of one from the rows of a logical snapshot (coordinator §3.7, §10.3): etcd itself writes
// its files, run for a moment on Unix sockets in a folder of its own, so that no port is opened and
// nobody else can be reached by mistake. Everything is read back before the result counts; a failure
// leaves nothing. Term and ledger generation are written as they were: the first election raises
// them.

import { type ChildProcess, spawn } from 'node:child_process';
import { rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BigFleetError, describeThrown, runWithDeadline } from '@bigfleet/base';
import { EtcdClient } from '../etcd-client/client.ts';
import type { EtcdBuild } from '../snapshots/restore-into-engine.ts';
import type { LoadedState, StoredRow } from '../state/rows.ts';
import { KeySpace } from '../store/etcd/key-space.ts';
import { loadLedger, writeWholeState } from '../store/etcd/load.ts';
import { writePidFile } from './orphan.ts';
import type { EtcdRestoreTools } from './restore.ts';

const buildWithinMs = 10 * 60_000;
const stopWithinMs = 30_000;
const maxOutputLength = 2_048;
/** The kernel's limit for the path of a socket is 107 bytes. */
const maxFolderLength = 80;
/** `host:port` is the only form that every version of etcd takes: a file of that name. */
const clientSocket = 'client:1';
const peerSocket = 'peer:1';

interface RowsBuild
  extends Pick<EtcdRestoreTools, 'runtime' | 'etcd' | 'prefix'>,
    Pick<EtcdBuild, 'directory' | 'nodeId'> {
  readonly state: LoadedState;
  readonly peerUrl: string;
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
    const access = { runtime, client, keys: new KeySpace(prefix) };
    await writeWholeState(access, state, signal);
    const written = await loadLedger(access, signal);
    const isWhole =
      written.meta.clusterUid === state.meta.clusterUid && isSame(written.rows, state.rows);
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

interface OfflineEtcd extends AsyncDisposable {
  readonly endpoint: string;
  /** Aborted when the process is gone; the reason says how. */
  readonly ended: AbortSignal;
  /** Resolves when it has stopped of itself, all on disk; throws when it had to be killed. */
  stop(): Promise<void>;
}

/**
 * One etcd of a restore: a single member under its final name and peer URL, which nobody can dial,
 * because it listens on Unix sockets only. It is started once and never again: a signal tells
 * its user that it has ended, with the last lines of its output.
 */
function startOfflineEtcd(options: RowsBuild): OfflineEtcd {
  const { runtime, etcd, pidFile } = options;
  const folder = mkdtempSync(path.join(socketHome(options.directory), '.etcd-'));
  const child = spawn(etcd, argumentsOf(options), {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (child.pid !== undefined) writePidFile(pidFile, child.pid);
  const ended = new AbortController();
  const gone = whenGone(child, ended);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await runWithDeadline(runtime, { ms: stopWithinMs }, () => gone);
  };
  return {
    endpoint: `unix:${path.join(folder, clientSocket)}`,
    ended: ended.signal,
    stop,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await gone;
      rmSync(folder, { recursive: true, force: true });
      rmSync(pidFile, { force: true });
    },
  };
}

/** Beside the data, which is writable for sure, unless the path is too long for a socket. */
function socketHome(directory: string): string {
  const beside = path.resolve(path.dirname(directory));
  return Buffer.byteLength(beside) <= maxFolderLength ? beside : tmpdir();
}

function argumentsOf({ directory, nodeId, peerUrl }: RowsBuild): readonly string[] {
  return [
    `--name=${nodeId}`,
    `--data-dir=${path.resolve(directory)}`,
    `--listen-client-urls=unix://${clientSocket}`,
    `--listen-peer-urls=unix://${peerSocket}`,
    // Replaced by the coordinator's at its first start.
    '--advertise-client-urls=http://127.0.0.1:2379',
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=${nodeId}=${peerUrl}`,
    '--initial-cluster-state=new',
    '--logger=zap',
    '--log-level=error',
  ];
}

function whenGone(child: ChildProcess, ended: AbortController): Promise<void> {
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-maxOutputLength);
  });
  return new Promise((resolve) => {
    const onGone = (how: string): void => {
      ended.abort(new BigFleetError('etcd_unavailable', `etcd ended: ${how} ${said}`.trim()));
      resolve();
    };
    child.once('error', ({ message }) => onGone(message));
    child.once('close', (code, by) => onGone(by === null ? `exit code ${code}` : `signal ${by}`));
  });
}
