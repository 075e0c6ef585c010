// A checked state into the data directory, for either engine: the new engine state is built beside
// the old one, and the last step is a rename.

import { renameSync, rmSync } from 'node:fs';
import { BigFleetError } from '@bigfleet/base';
import type { DataDir } from '@bigfleet/process';
import { nextGeneration } from '../state/meta.ts';
import type { LoadedState } from '../state/rows.ts';
import { clearRestoreMark, setRestoreMark } from '../store/data-dir.ts';
import { restoreFileOf, writeRestoreFloor } from '../store/etcd/restore-floor.ts';
import {
  BUILD_FILE,
  buildDatabase,
  DATABASE_FILE,
  installDatabase,
  removeDatabase,
  syncPath,
} from '../store/sqlite/create-database.ts';
import type { StepHook } from './spool.ts';

const ETCD_DIRECTORY = 'etcd';
const BUILD_DIRECTORY = 'etcd.new';

interface Restore {
  /** Of the restored ledger, at least. */
  readonly generation: number;
  /** No leadership after the restore has a lower term. */
  readonly termFloor: bigint;
  readonly onStep?: StepHook | undefined;
}

interface SqliteRestore extends Restore {
  readonly state: LoadedState;
}

export function restoreIntoSqlite(dataDir: DataDir, restore: SqliteRestore): void {
  const { state, generation, termFloor, onStep } = restore;
  const built = dataDir.at(BUILD_FILE);
  onStep?.('build database');
  removeDatabase(built);
  const meta = { ...nextGeneration(state.meta, generation), term: termFloor };
  buildDatabase(built, { ...state, meta });
  onStep?.('set mark');
  setRestoreMark(dataDir.directory);
  syncPath(dataDir.directory);
  onStep?.('remove old etcd');
  removeEtcd(dataDir);
  onStep?.('remove old database');
  removeDatabase(dataDir.at(DATABASE_FILE));
  onStep?.('install database');
  installDatabase(built, dataDir.directory);
  onStep?.('clear mark');
  clearRestoreMark(dataDir.directory);
  syncPath(dataDir.directory);
}

/** Makes `directory`, which does not exist, the data of a cluster of one; changes nothing else. */
export type EtcdRestore = (build: EtcdBuild) => Promise<void>;

export interface EtcdBuild {
  readonly dataDir: string;
  readonly directory: string;
  readonly nodeId: string;
  readonly raftAdvertise: string;
  readonly source:
    | { readonly kind: 'native'; readonly file: string }
    | { readonly kind: 'logical'; readonly state: LoadedState };
}

interface IntoEtcd extends Restore, Pick<EtcdBuild, 'nodeId' | 'raftAdvertise' | 'source'> {
  readonly etcd?: EtcdRestore | undefined;
}

/**
 * A checked state into a data directory of etcd, which `EtcdRestore` builds beside the old one. The
 * last step is a rename. The term and the ledger generation, which live inside etcd's database,
 * are left in restore.json for the first election to raise.
 */
export async function restoreIntoEtcd(dataDir: DataDir, restore: IntoEtcd): Promise<void> {
  const { etcd, nodeId, raftAdvertise, source, termFloor, generation, onStep } = restore;
  if (etcd === undefined)
    throw new BigFleetError('snapshot_unsupported', 'restoring into etcd is not available here');
  const built = dataDir.at(BUILD_DIRECTORY);
  onStep?.('build etcd');
  rmSync(built, { recursive: true, force: true });
  const { directory } = dataDir;
  await etcd({ dataDir: directory, directory: built, nodeId, raftAdvertise, source });
  onStep?.('set mark');
  setRestoreMark(directory);
  syncPath(directory);
  onStep?.('remove old database');
  removeDatabase(dataDir.at(DATABASE_FILE));
  onStep?.('remove old etcd');
  removeEtcd(dataDir);
  onStep?.('write floor');
  const floor = { term: termFloor, ledgerGeneration: generation };
  await writeRestoreFloor(restoreFileOf(directory), floor);
  onStep?.('install etcd');
  renameSync(built, dataDir.at(ETCD_DIRECTORY));
  syncPath(directory);
  onStep?.('clear mark');
  clearRestoreMark(directory);
  syncPath(directory);
}

/** With what a restore left for it. */
function removeEtcd(dataDir: DataDir): void {
  rmSync(dataDir.at(ETCD_DIRECTORY), { recursive: true, force: true });
  rmSync(restoreFileOf(dataDir.directory), { force: true });
}
