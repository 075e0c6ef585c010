// A checked state into the data directory, for either engine: the new engine state is built beside
// the old one, and the last step is a rename.

import { renameSync, rmSync } from 'node:fs';
import { nextGeneration } from '../state/meta.ts';
import type { LoadedState } from '../state/writes.ts';
import type { DataDir } from '@bigfleet/process';
import { restoreFileOf, writeRestoreFloor } from '../store/etcd/restore-floor.ts';
import { clearRestoreMark, setRestoreMark } from '../store/restore-mark.ts';
import {
  buildDatabase,
  DATABASE_FILE,
  installDatabase,
  removeDatabase,
  syncPath,
} from '../store/sqlite/create-database.ts';
import type { StepHook } from './spool.ts';

const BUILD_FILE = 'coordinator.db.new';
const ETCD_DIRECTORY = 'etcd';
const BUILD_DIRECTORY = 'etcd.new';

export interface SqliteRestore {
  readonly state: LoadedState;
  /** Of the restored ledger, at least. */
  readonly generation: number;
  /** Written as the stored term. */
  readonly termFloor: bigint;
  readonly onStep: StepHook | undefined;
}

export function restoreIntoSqlite(dataDir: DataDir, restore: SqliteRestore): void {
  const { state, generation, termFloor, onStep } = restore;
  const built = dataDir.at(BUILD_FILE);
  onStep?.('build database');
  removeDatabase(built);
  const meta = { ...nextGeneration(state.meta, generation), term: termFloor };
  buildDatabase(built, { meta, rows: state.rows });
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

/** What the etcd engine does with a checked state. */
export interface EtcdRestore {
  /** Makes `directory`, which does not exist, the data of a cluster of one; changes nothing else. */
  build(build: EtcdBuild): Promise<void>;
}

export interface EtcdBuild {
  readonly dataDir: string;
  readonly directory: string;
  readonly nodeId: string;
  readonly raftAdvertise: string;
  readonly source:
    | { readonly kind: 'native'; readonly file: string }
    | { readonly kind: 'logical'; readonly state: LoadedState };
}

export interface IntoEtcd {
  readonly etcd: EtcdRestore;
  readonly nodeId: string;
  readonly raftAdvertise: string;
  readonly source: EtcdBuild['source'];
  readonly termFloor: bigint;
  /** Of the restored ledger, at least. */
  readonly ledgerGeneration: number;
  readonly onStep: StepHook | undefined;
}

/**
 * A checked state into a data directory of etcd, built beside the old one by whoever knows etcd.
 * The last step is a rename. The term and the ledger generation, which live inside etcd's database,
 * are left in restore.json for the first election to raise.
 */
export async function restoreIntoEtcd(dataDir: DataDir, restore: IntoEtcd): Promise<void> {
  const { etcd, nodeId, raftAdvertise, source, termFloor, ledgerGeneration, onStep } = restore;
  const built = dataDir.at(BUILD_DIRECTORY);
  onStep?.('build etcd');
  rmSync(built, { recursive: true, force: true });
  await etcd.build({
    dataDir: dataDir.directory,
    directory: built,
    nodeId,
    raftAdvertise,
    source,
  });
  onStep?.('set mark');
  setRestoreMark(dataDir.directory);
  syncPath(dataDir.directory);
  onStep?.('remove old database');
  removeDatabase(dataDir.at(DATABASE_FILE));
  onStep?.('remove old etcd');
  removeEtcd(dataDir);
  onStep?.('write floor');
  await writeRestoreFloor(restoreFileOf(dataDir.directory), { term: termFloor, ledgerGeneration });
  onStep?.('install etcd');
  renameSync(built, dataDir.at(ETCD_DIRECTORY));
  syncPath(dataDir.directory);
  onStep?.('clear mark');
  clearRestoreMark(dataDir.directory);
  syncPath(dataDir.directory);
}

/** With what a restore left for it. */
function removeEtcd(dataDir: DataDir): void {
  rmSync(dataDir.at(ETCD_DIRECTORY), { recursive: true, force: true });
  rmSync(restoreFileOf(dataDir.directory), { force: true });
}
