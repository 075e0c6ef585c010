// A checked state into a fresh database, built beside the old one. The last step is a rename.

import { nextGeneration } from '../state/generation.ts';
import type { DataDir } from '../store/data-dir.ts';
import { clearRestoreMark, setRestoreMark } from '../store/restore-mark.ts';
import {
  buildDatabase,
  DATABASE_FILE,
  installDatabase,
  removeDatabase,
  syncPath,
} from '../store/sqlite/create-database.ts';
import type { LoadedState } from '../state/writes.ts';
import type { StepHook } from './files.ts';
import { removeEtcd } from './restore-into-etcd.ts';

const BUILD_FILE = 'coordinator.db.new';

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
