// A storage engine without a disk, for tests and simulated seeds: deterministic, with the same
// guards as the real ones (leadership, index, row revisions) and faults at every commit. Several
// stores on one `MemoryDisk` are replicas, or one replica before and after its crash.

import { assert, BigFleetError, orAborted, sleep, type Runtime } from '@bigfleet/base';
import { firstMeta } from '../../state/meta.ts';
import { encodeRow } from '../../state/row-format.ts';
import type { Meta, Change, RowKey, LoadedState } from '../../state/rows.ts';
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
import { MemoryDisk } from './memory-disk.ts';

/** What happens to the next commit instead of its success. */
export type CommitFault =
  | 'unknown-after-commit'
  | 'unknown-without-commit'
  | 'index-moved'
  | 'row-moved'
  | 'deposed'
  | 'failed'
  | 'crash-before-commit'
  | 'crash-after-commit';

export interface MemoryStoreOptions {
  readonly runtime: Runtime;
  readonly disk?: MemoryDisk;
  readonly nodeId?: string;
  readonly grpcAddress?: string;
  /** May write first into an empty disk. */
  readonly bootstrap?: boolean;
  /** Virtual milliseconds that a commit takes. 0 still takes a turn. */
  readonly commitMs?: number;
}

export class MemoryStore implements Store {
  /** It stands in for the engine of one replica. */
  readonly engine = 'sqlite' as const;
  readonly disk: MemoryDisk;
  /** Consumed one per commit, in order. */
  readonly commitFaults: CommitFault[] = [];
  /** So many coming calls of `resolve` do not know either. */
  unresolvedCount = 0;
  /** What `status` says is wrong. */
  readonly alarms: string[] = [];
  readonly #options: MemoryStoreOptions;
  readonly #known = new Map<RowKey, number>();
  #held: HeldLeadership | undefined;
  #isDown = false;

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.disk = options.disk ?? new MemoryDisk();
  }

  open(): Promise<'ready' | 'empty'> {
    return Promise.resolve(this.#mayWrite() ? 'ready' : 'empty');
  }

  async campaign(signal: AbortSignal, termFloor = 0n): Promise<Leadership> {
    if (!this.#mayWrite()) throw new BigFleetError('coordinator_store_empty', EMPTY);
    if (this.#held !== undefined) await this.resign(this.#held);
    while (this.disk.leader !== undefined) await orAborted(this.disk.vacancy(), signal);
    signal.throwIfAborted();
    this.#assertUp();
    const meta = this.disk.meta ?? firstMeta(this.#options.runtime);
    const term = (meta.term > termFloor ? meta.term : termFloor) + 1n;
    this.disk.meta = { ...meta, term };
    const held = new HeldLeadership(term);
    this.disk.lead({ ...this.#hint(term), depose: () => held.end('lease_lost') });
    this.#held = held;
    return held;
  }

  load(leadership: Leadership): Promise<LoadedState> {
    this.#assertUp();
    if (!this.#leads(leadership)) return Promise.reject(deposed());
    this.#known.clear();
    const rows = this.disk.rows();
    for (const { key } of rows) this.#known.set(key, this.disk.row(key)?.revision ?? 0);
    return Promise.resolve({ meta: this.#meta(), rows });
  }

  async commit(leadership: Leadership, request: CommitRequest): Promise<CommitResult> {
    this.#assertUp();
    await this.#pass();
    const fault = this.commitFaults.shift();
    if (fault === 'crash-before-commit') return this.#crashed();
    if (fault === 'deposed') this.disk.depose();
    if (fault === 'index-moved') return { kind: 'refused', reason: 'index_moved' };
    if (fault === 'row-moved') return { kind: 'refused', reason: 'row_moved' };
    if (fault === 'failed') return { kind: 'failed', error: new Error('no space left') };
    if (fault === 'unknown-without-commit') return unknown();
    const refusal = this.#refusal(leadership, request);
    if (refusal !== undefined) return { kind: 'refused', reason: refusal };
    this.#write(request);
    if (fault === 'crash-after-commit') return this.#crashed();
    return fault === 'unknown-after-commit' ? unknown() : { kind: 'committed' };
  }

  async resolve(leadership: Leadership, request: CommitRequest): Promise<Resolution> {
    this.#assertUp();
    await this.#pass();
    if (this.unresolvedCount > 0) {
      this.unresolvedCount--;
      return 'unknown';
    }
    if (!this.#leads(leadership)) return 'deposed';
    const { applyIndex, lastCommandId } = this.#meta();
    if (applyIndex === request.expectedIndex) return 'not-committed';
    const isOurs = applyIndex === request.expectedIndex + 1 && lastCommandId === request.commandId;
    return isOurs ? 'committed' : 'deposed';
  }

  async confirm(leadership: Leadership): Promise<'leading' | 'deposed' | 'timeout'> {
    this.#assertUp();
    await this.#pass();
    return this.#leads(leadership) ? 'leading' : 'deposed';
  }

  async gc(leadership: Leadership, keys: readonly RowKey[]): Promise<void> {
    this.#assertUp();
    await this.#pass();
    if (!this.#leads(leadership)) throw deposed();
    for (const key of keys) {
      this.disk.delete(key);
      this.#known.delete(key);
    }
  }

  leader(): Promise<LeaderHint | undefined> {
    const { leader } = this.disk;
    if (leader === undefined) return Promise.resolve(undefined);
    const { nodeId, grpcAddress, term } = leader;
    return Promise.resolve({ nodeId, grpcAddress, term });
  }

  snapshot(format: 'native' | 'logical'): Promise<StoreSnapshot | undefined> {
    this.#assertUp();
    if (format === 'native')
      return Promise.reject(new BigFleetError('snapshot_unsupported', 'memory has no file'));
    const { meta } = this.disk;
    if (meta === undefined || meta.applyIndex === 0) return Promise.resolve(undefined);
    return Promise.resolve(logicalSnapshot({ meta, rows: this.disk.rows() }));
  }

  status(): Promise<StoreStatus> {
    this.#assertUp();
    const { meta } = this.disk;
    return Promise.resolve({
      storeRaftTerm: 0n,
      applyIndex: meta?.applyIndex ?? 0,
      clusterUid: meta?.clusterUid ?? '',
      replicas: [this.#hint(0n).nodeId],
      alarms: [...this.alarms],
    });
  }

  resign(leadership: Leadership): Promise<void> {
    if (leadership === this.#held) {
      this.#held.end('resigned');
      if (this.disk.leader?.term === leadership.term) this.disk.depose();
      this.#held = undefined;
    }
    return Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.#held !== undefined) await this.resign(this.#held);
    this.#isDown = true;
  }

  /** The process is gone: its lease ends, and nothing of this store answers any more. */
  crash(): void {
    this.#isDown = true;
    this.#held?.end('lease_lost');
    if (this.#held !== undefined && this.disk.leader?.term === this.#held.term) this.disk.depose();
  }

  #mayWrite(): boolean {
    return this.disk.meta !== undefined || this.#options.bootstrap !== false;
  }

  #meta(): Meta {
    const { meta } = this.disk;
    assert(meta !== undefined, 'a leader has written the meta row');
    return meta;
  }

  #hint(term: bigint): LeaderHint {
    const { nodeId = 'memory-0', grpcAddress = 'memory-0:7790' } = this.#options;
    return { nodeId, grpcAddress, term };
  }

  #leads(leadership: Leadership): boolean {
    return leadership === this.#held && this.disk.leader?.term === leadership.term;
  }

  #refusal(
    leadership: Leadership,
    { expectedIndex, change }: CommitRequest,
  ): 'deposed' | 'index_moved' | 'row_moved' | undefined {
    if (!this.#leads(leadership)) return 'deposed';
    if (this.#meta().applyIndex !== expectedIndex) return 'index_moved';
    const keys = [...change.writes.map(({ key }) => key), ...change.reads];
    return keys.every((key) => this.#isAsKnown(key)) ? undefined : 'row_moved';
  }

  #isAsKnown(key: RowKey): boolean {
    return this.disk.row(key)?.revision === this.#known.get(key);
  }

  #write({ change, commandId, expectedIndex }: CommitRequest): void {
    for (const write of change.writes) this.#writeRow(write);
    this.disk.meta = {
      ...this.#meta(),
      applyIndex: expectedIndex + 1,
      lastCommandId: commandId,
      assignmentRevision: change.assignmentRevision,
      ledgerGeneration: change.ledgerGeneration,
    };
  }

  #writeRow(write: Change['writes'][number]): void {
    if (write.kind === 'delete') {
      this.disk.delete(write.key);
      this.#known.delete(write.key);
      return;
    }
    const value = encodeRow(write.table, write.row);
    const revision = this.disk.put({ table: write.table, key: write.key, value });
    this.#known.set(write.key, revision);
  }

  #pass(): Promise<void> {
    const { runtime, commitMs = 0 } = this.#options;
    return sleep(runtime, commitMs);
  }

  /** A dead process never hears how its commit ended. */
  #crashed(): Promise<never> {
    this.crash();
    return new Promise(() => {});
  }

  #assertUp(): void {
    if (this.#isDown) throw new BigFleetError('coordinator_store_closed', 'the store is closed');
  }
}

const EMPTY = 'store is empty and --bootstrap is not set';

function unknown(): CommitResult {
  return { kind: 'unknown', error: new Error('no answer in time') };
}

function deposed(): BigFleetError {
  return new BigFleetError('coordinator_deposed', 'a newer leadership exists');
}
