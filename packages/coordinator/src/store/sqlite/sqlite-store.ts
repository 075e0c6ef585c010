// The engine of a single replica (coordinator §3.1). Leadership is the lock of the data directory,
// held for life, plus a term that rises durably before anything is served and is compared inside
// every transaction: a process that wakes after another took over writes nothing. Calls are
// synchronous underneath, so nothing of them interleaves. A full disk refuses writes, nothing else.

import { existsSync, readdirSync } from 'node:fs';
import { BigFleetError, describeThrown, type Runtime } from '@bigfleet/base';
import type { DataDir } from '@bigfleet/process';
import { firstMeta } from '../../state/meta.ts';
import type { RowKey, LoadedState } from '../../state/rows.ts';
import { takeDataDir } from '../data-dir.ts';
import { logicalSnapshot } from '../logical-snapshot.ts';
import {
  HeldLeadership,
  type CommitRequest,
  type CommitResult,
  type LeaderHint,
  type Leadership,
  type Resolution,
  type Store,
  type StoreSnapshot,
  type StoreStatus,
} from '../store.ts';
import { asStoreError, checkDatabase, corrupt, sqliteProblem } from './check-database.ts';
import { createDatabase, DATABASE_FILE, removeDatabase } from './create-database.ts';
import { CommitError, FleetDatabase } from './fleet-database.ts';
import { nativeSnapshot } from './native-snapshot.ts';

/** As etcd's own bound: a state of a few megabytes that reaches it is a runaway. */
const MAX_DATABASE_BYTES = 2 * 1_024 ** 3;
const MAX_SNAPSHOTS = 4;
const SNAPSHOT_FILE = /^snapshot-\d+\.tmp/;

export interface SqliteStoreOptions {
  readonly runtime: Runtime;
  readonly dataDir: string;
  readonly nodeId: string;
  readonly grpcAddress: string;
  /** May write first into an empty data directory (--bootstrap). */
  readonly bootstrap: boolean;
  readonly maxDatabaseBytes?: number;
}

export class SqliteStore implements Store {
  readonly engine = 'sqlite' as const;
  readonly #options: SqliteStoreOptions;
  #dataDir: DataDir | undefined;
  #database: FleetDatabase | undefined;
  #held: HeldLeadership | undefined;
  #alarm: string | undefined;
  #snapshotCount = 0;
  #openSnapshots = 0;

  constructor(options: SqliteStoreOptions) {
    this.#options = options;
  }

  open(): Promise<'ready' | 'empty'> {
    return settle(() => {
      this.#dataDir ??= takeDataDir(this.#options.dataDir);
      return this.#openDatabase(this.#dataDir);
    });
  }

  /** At once: who holds the lock leads. Fails when the new term cannot be made durable. */
  campaign(signal: AbortSignal, termFloor = 0n): Promise<Leadership> {
    return settle(() => {
      signal.throwIfAborted();
      if (this.#dataDir !== undefined && this.#database === undefined)
        throw new BigFleetError('coordinator_store_empty', EMPTY);
      this.#held?.end('resigned');
      const term = this.#guardedByDisk(() => this.#opened().raiseTerm(termFloor));
      this.#held = new HeldLeadership(term);
      return this.#held;
    });
  }

  load(leadership: Leadership): Promise<LoadedState> {
    return settle(() => {
      const database = this.#opened();
      if (!this.#leads(leadership)) throw deposed();
      return database.load();
    });
  }

  commit(leadership: Leadership, request: CommitRequest): Promise<CommitResult> {
    return settle(() => {
      const database = this.#opened();
      if (!this.#isCurrent(leadership)) return { kind: 'refused', reason: 'deposed' };
      try {
        return this.#committed(database.commit(leadership.term, request));
      } catch (error) {
        return this.#failed(error);
      }
    });
  }

  resolve(leadership: Leadership, request: CommitRequest): Promise<Resolution> {
    return settle(() => {
      if (!this.#leads(leadership)) return 'deposed';
      const { applyIndex, lastCommandId } = this.#opened().meta();
      if (applyIndex === request.expectedIndex) return 'not-committed';
      const isNext = applyIndex === request.expectedIndex + 1;
      return isNext && lastCommandId === request.commandId ? 'committed' : 'deposed';
    });
  }

  confirm(leadership: Leadership): Promise<'leading' | 'deposed' | 'timeout'> {
    return settle(() => (this.#isCurrent(leadership) ? 'leading' : 'deposed'));
  }

  gc(leadership: Leadership, keys: readonly RowKey[]): Promise<void> {
    return settle(() => {
      const isDone = this.#isCurrent(leadership)
        ? this.#guardedByDisk(() => this.#opened().delete(leadership.term, keys)) === 'done'
        : false;
      if (!isDone) throw deposed();
    });
  }

  leader(): Promise<LeaderHint | undefined> {
    const { nodeId, grpcAddress } = this.#options;
    const held = this.#held;
    return Promise.resolve(
      held?.isWithinWindow() === true ? { nodeId, grpcAddress, term: held.term } : undefined,
    );
  }

  async snapshot(format: 'native' | 'logical'): Promise<StoreSnapshot | undefined> {
    const database = this.#opened();
    if (database.meta().applyIndex === 0) return undefined;
    return format === 'native' ? this.#nativeSnapshot(database) : logicalSnapshot(database.load());
  }

  status(): Promise<StoreStatus> {
    return settle(() => {
      const meta = this.#database?.meta();
      return {
        storeRaftTerm: 0n,
        applyIndex: meta?.applyIndex ?? 0,
        clusterUid: meta?.clusterUid ?? '',
        replicas: [this.#options.nodeId],
        alarms: this.#alarm === undefined ? [] : [this.#alarm],
      };
    });
  }

  resign(leadership: Leadership): Promise<void> {
    if (leadership === this.#held) {
      this.#held.end('resigned');
      this.#held = undefined;
    }
    return Promise.resolve();
  }

  close(): Promise<void> {
    return settle(() => {
      this.#held?.end('resigned');
      this.#held = undefined;
      this.#database?.close();
      this.#database = undefined;
      this.#dataDir?.release();
      this.#dataDir = undefined;
    });
  }

  #openDatabase(dataDir: DataDir): 'ready' | 'empty' {
    const file = dataDir.at(DATABASE_FILE);
    if (!existsSync(file)) {
      // A log without its database would be replayed into whatever is created under that name.
      if (existsSync(`${file}-wal`)) throw corrupt(file, 'it is missing, and its log is there');
      if (!this.#options.bootstrap) return 'empty';
      const meta = firstMeta(this.#options.runtime);
      this.#guardedByDisk(() => createDatabase(dataDir.directory, { meta, rows: [] }));
    }
    checkDatabase(file);
    for (const name of readdirSync(dataDir.directory))
      if (SNAPSHOT_FILE.test(name)) removeDatabase(dataDir.at(name));
    this.#database = this.#guardedByDisk(
      () => new FleetDatabase(file, this.#options.maxDatabaseBytes ?? MAX_DATABASE_BYTES),
    );
    return 'ready';
  }

  #committed(outcome: 'done' | 'deposed' | 'index_moved'): CommitResult {
    if (outcome !== 'done') return { kind: 'refused', reason: outcome };
    this.#alarm = undefined;
    return { kind: 'committed' };
  }

  /** Before COMMIT everything was rolled back; a COMMIT that failed for space wrote no end mark. */
  #failed(error: unknown): CommitResult {
    const isCommit = error instanceof CommitError;
    const cause = isCommit ? error.cause : error;
    const problem = sqliteProblem(cause);
    const thrown = new Error(`SQLite: ${describeThrown(cause)}`, { cause });
    if (problem === 'full') this.#alarm = 'the disk is full: writes are refused, reads work';
    else this.#alarm = `writing failed: ${describeThrown(cause)}`;
    if (isCommit && problem !== 'full') return { kind: 'unknown', error: thrown };
    return { kind: 'failed', error: thrown };
  }

  async #nativeSnapshot(database: FleetDatabase): Promise<StoreSnapshot> {
    const dataDir = this.#dataDir;
    if (dataDir === undefined) throw closed();
    if (this.#openSnapshots >= MAX_SNAPSHOTS)
      throw new BigFleetError('snapshot_unsupported', 'too many snapshots are being taken at once');
    this.#openSnapshots++;
    try {
      return await nativeSnapshot(database, dataDir.at(`snapshot-${this.#snapshotCount++}.tmp`));
    } finally {
      this.#openSnapshots--;
    }
  }

  #leads(leadership: Leadership): boolean {
    return this.#isCurrent(leadership) && this.#opened().meta().term === leadership.term;
  }

  #isCurrent(leadership: Leadership): boolean {
    return leadership === this.#held && leadership.isWithinWindow();
  }

  #opened(): FleetDatabase {
    if (this.#database === undefined) throw closed();
    return this.#database;
  }

  #guardedByDisk<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw asStoreError(DATABASE_FILE, error instanceof CommitError ? error.cause : error);
    }
  }
}

const EMPTY = 'store is empty and --bootstrap is not set';

function deposed(): BigFleetError {
  return new BigFleetError('coordinator_deposed', 'this leadership is over');
}

function closed(): BigFleetError {
  return new BigFleetError('coordinator_store_closed', 'the store is not open');
}

/** What throws synchronously underneath rejects, as callers of a `Store` expect. */
async function settle<T>(work: () => T): Promise<T> {
  return work();
}
