// Offline restore (coordinator §10.3). Order is everything: the archive is copied and checked, the
// new engine state is built beside the old one, and only then is anything removed; the last step is
// a rename. Interrupted before that, the old state stands; interrupted after, the mark keeps any
// coordinator from starting until the restore was run again. Never dials anything.

import { rmSync, readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { BigFleetError, describeThrown } from '@bigfleet/base';
import type { DataDir } from '@bigfleet/process';
import type { Logger } from '@bigfleet/telemetry';
import { FleetState } from '../state/fleet-state.ts';
import { firstTermOf } from '../state/meta.ts';
import type { LoadedState } from '../state/rows.ts';
import { takeDataDir } from '../store/data-dir.ts';
import { checkDatabase } from '../store/sqlite/check-database.ts';
import { syncPath } from '../store/sqlite/create-database.ts';
import { FleetDatabase } from '../store/sqlite/fleet-database.ts';
import type { StoreEngine } from '../store/store.ts';
import { openArchive } from './archive.ts';
import { loadLogical, type RejectedRow } from './load-logical.ts';
import { type EtcdRestore, restoreIntoEtcd, restoreIntoSqlite } from './restore-into-engine.ts';
import { malformedSnapshot, type SnapshotMeta } from './snapshot-meta.ts';
import { isMissing, type StepHook } from './spool.ts';

const GENERATION_FILE = 'restored-generation';

const MAX_TERM = 2n ** 63n - 1n;
const SPOOL_FILE = 'restore-state.tmp';

export interface RestoreOptions {
  /** Archive file or directory. */
  readonly source: string;
  readonly dataDir: string;
  readonly nodeId: string;
  readonly raftAdvertise: string;
  /** `auto`: what the snapshot was taken from; a logical one goes into SQLite. */
  readonly store: 'auto' | StoreEngine;
  readonly log: Logger;
  /** Needed for the engine etcd. */
  readonly etcd?: EtcdRestore;
  readonly onStep?: StepHook;
}

export interface RestoredSnapshot {
  readonly index: number;
  /** Of the snapshot, as printed. */
  readonly term: bigint;
  /** No leadership after the restore has a lower term. */
  readonly termFloor: bigint;
  readonly engine: StoreEngine;
  readonly rejected: readonly RejectedRow[];
}

export async function restoreSnapshot(options: RestoreOptions): Promise<RestoredSnapshot> {
  const dataDir = takeDataDir(options.dataDir, { forRestore: true });
  try {
    return await restoreInto(dataDir, options);
  } finally {
    // Also of an archive that was refused: a copy of its state would fill the volume for nothing.
    rmSync(dataDir.at(SPOOL_FILE), { force: true });
    dataDir.release();
  }
}

async function restoreInto(dataDir: DataDir, options: RestoreOptions): Promise<RestoredSnapshot> {
  const archive = await openArchive(options.source);
  const engine = engineFor(options.store, archive.meta);
  const spool = dataDir.at(SPOOL_FILE);
  const { onStep, log } = options;
  onStep?.('copy state');
  await archive.copyState(spool);
  const { state, term, rejected } = await check(archive.meta, spool);
  for (const { at, reason } of rejected) log.error('snapshot row rejected', { at, reason });
  const ledgerGeneration = state?.meta.ledgerGeneration ?? archive.meta.ledgerGeneration ?? 0;
  const generation = Math.max(ledgerGeneration, lastGeneration(dataDir)) + 1;
  const termFloor = firstTermOf({ ledgerGeneration, term }, generation);
  if (termFloor > MAX_TERM) throw malformedSnapshot('the term is out of range');
  beginGeneration(dataDir, generation);
  if (engine === 'sqlite') {
    if (state === undefined) throw malformedSnapshot('the state cannot be read');
    restoreIntoSqlite(dataDir, { state, generation, termFloor, onStep });
  } else {
    const source =
      state === undefined
        ? ({ kind: 'native', file: spool } as const)
        : ({ kind: 'logical', state } as const);
    await restoreIntoEtcd(dataDir, { ...options, source, generation, termFloor });
  }
  return { index: archive.meta.index, term, termFloor, engine, rejected };
}

interface Checked {
  /** Absent for etcd's own format, which only etcd reads. */
  readonly state: LoadedState | undefined;
  readonly term: bigint;
  readonly rejected: readonly RejectedRow[];
}

function engineFor(wanted: RestoreOptions['store'], meta: SnapshotMeta): StoreEngine {
  const native = { sqlite: 'sqlite', 'etcd-db': 'etcd', 'logical-json': undefined } as const;
  const own = native[meta.format];
  const engine = wanted === 'auto' ? (own ?? 'sqlite') : wanted;
  if (own === undefined || own === engine) return engine;
  const problem = `a snapshot of format ${meta.format} cannot be restored into ${engine}`;
  throw new BigFleetError('snapshot_unsupported', problem);
}

async function check(meta: SnapshotMeta, spool: string): Promise<Checked> {
  const term = BigInt(meta.term);
  if (meta.format === 'etcd-db') return { state: undefined, term, rejected: [] };
  if (meta.format === 'sqlite') {
    const state = readSqliteState(spool, meta);
    return { state, term: maxOf(term, state.meta.term), rejected: [] };
  }
  const { loaded, rejected } = loadLogical(await readFile(spool, 'utf8'), meta);
  return { state: loaded, term: maxOf(term, loaded.meta.term), rejected };
}

function maxOf(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

/**
 * The generation is used up when it returns, also when the restore fails.
 * `<data-dir>/restored-generation` keeps the highest one of all restores into the directory, for ever:
 * a snapshot that is restored twice, or an older one after it, would else begin the same generation
 * again, and a shard that acts on revision 12 of the first attempt would be taken for one that has
 * heard revision 12 of the second. A directory that never had a restore has no such file.
 */
function beginGeneration(dataDir: DataDir, generation: number): void {
  writeFileSync(dataDir.at(GENERATION_FILE), `${generation}\n`, { mode: 0o600, flush: true });
  syncPath(dataDir.directory);
}

function lastGeneration(dataDir: DataDir): number {
  let text: string;
  try {
    text = readFileSync(dataDir.at(GENERATION_FILE), 'utf8');
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
  if (/^\d{1,15}\n$/.test(text)) return Number(text);
  const problem = `${dataDir.at(GENERATION_FILE)} holds no generation: write a number above every one restored`;
  throw new BigFleetError('coordinator_data_dir_unusable', problem);
}

/**
 * The state inside a SQLite file that a restore has copied: checked like a database at start, every
 * row decoded, and its meta compared with what meta.json claims. The file itself is never
 * installed; a fresh one is built from these rows, so nothing foreign inside it survives. Throws
 * `snapshot_malformed`.
 */
function readSqliteState(file: string, archive: SnapshotMeta): LoadedState {
  const state = read(file);
  const { applyIndex, clusterUid } = state.meta;
  if (applyIndex !== archive.index || clusterUid !== archive.clusterUid)
    throw malformedSnapshot('meta.json describes another state');
  return state;
}

function read(file: string): LoadedState {
  try {
    checkDatabase(file);
    const database = new FleetDatabase(file, Number.MAX_SAFE_INTEGER);
    try {
      const state = database.load();
      // Decodes every row; what it cannot read it names.
      return { ...state, meta: new FleetState(state).meta };
    } finally {
      database.close();
    }
  } catch (error) {
    throw malformedSnapshot(`the state is no database: ${describeThrown(error)}`, error);
  }
}
