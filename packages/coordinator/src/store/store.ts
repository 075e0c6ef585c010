// What a storage engine promises (coordinator §3). Two exist: SQLite (one replica) and etcd (three
// or more). An engine keeps rows it does not understand, one legal writer, and a term that rises
// with each leadership. It keeps the revisions of rows itself: callers name keys only.

import type { Change, LoadedState, Meta, RowKey } from '../state/rows.ts';

export type StoreEngine = 'sqlite' | 'etcd';

export interface Store {
  readonly engine: StoreEngine;
  /**
   * Verifies the schema; refuses a newer one. `empty` means that nothing was ever written here and
   * this process may not write first (no --bootstrap): `campaign` is then refused.
   */
  open(): Promise<'ready' | 'empty'>;
  /**
   * Resolves when this process is the only legal writer; rejects only when aborted or closed. A
   * leadership that this process held before is over. The term is above `termFloor` (coordinator §10.3).
   */
  campaign(signal: AbortSignal, termFloor?: bigint): Promise<Leadership>;
  /** One consistent point in time, taken after winning. */
  load(leadership: Leadership): Promise<LoadedState>;
  commit(leadership: Leadership, request: CommitRequest): Promise<CommitResult>;
  /** After `unknown`: what really happened (coordinator §3.5). Never guesses. */
  resolve(leadership: Leadership, request: CommitRequest): Promise<Resolution>;
  /**
   * A linearizable look at the leadership that began after the call; calls share one (coordinator
   * §3.3). Every reply of a leader that is not the result of a commit waits for it.
   */
  confirm(leadership: Leadership): Promise<'leading' | 'deposed' | 'timeout'>;
  gc(leadership: Leadership, keys: readonly RowKey[]): Promise<void>;
  /** Also on followers. */
  leader(): Promise<LeaderHint | undefined>;
  /** Includes every commit acknowledged before the call. `undefined` = nothing to save. */
  snapshot(format: 'native' | 'logical'): Promise<StoreSnapshot | undefined>;
  status(): Promise<StoreStatus>;
  /** Hands over at once; a later commit of this leadership is refused. */
  resign(leadership: Leadership): Promise<void>;
  close(): Promise<void>;
}

export interface Leadership {
  readonly term: bigint;
  /** Aborted when the leadership is known to be over; its reason is a `LossReason`. */
  readonly lost: AbortSignal;
  /** The lease window (coordinator §3.3): asked when a handler starts and when it builds its reply. */
  isWithinWindow(): boolean;
}

export type LossReason = 'resigned' | 'lease_lost' | 'guard_failed';

export interface CommitRequest {
  /** The index before this command; it becomes `expectedIndex + 1`. */
  readonly expectedIndex: number;
  readonly commandId: string;
  readonly change: Change;
  /** Monotonic time at which the engine stops waiting and answers `unknown`. */
  readonly deadlineMs: number;
}

export type CommitResult =
  | { readonly kind: 'committed' }
  /**
   * Definitely not written. `deposed`: step down. Others: reload and try once more (coordinator
   * §3.5).
   */
  | { readonly kind: 'refused'; readonly reason: 'deposed' | 'index_moved' | 'row_moved' }
  /** Definitely not written, and the engine cannot write now (disk full, no space alarm). */
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'unknown'; readonly error: Error };

export type Resolution = 'committed' | 'not-committed' | 'deposed' | 'unknown';

export interface LeaderHint {
  readonly nodeId: string;
  readonly grpcAddress: string;
  readonly term: bigint;
}

export interface StoreSnapshot {
  readonly format: 'sqlite' | 'etcd-db' | 'logical-json';
  /** Of the state in it. */
  readonly meta: Meta;
  readonly storeRaftTerm: bigint;
  /** Read at most once; at its end, or when it is given up, the engine frees what it held. */
  readonly bytes: AsyncIterable<Uint8Array>;
}

export interface StoreStatus {
  readonly storeRaftTerm: bigint;
  readonly applyIndex: number;
  readonly clusterUid: string;
  readonly replicas: readonly string[];
  /** What an operator must know, such as a no-space alarm; empty when all is well. */
  readonly alarms: readonly string[];
}

/** A leadership of an engine without a lease: it lasts until its holder or a newer one ends it. */
export class HeldLeadership implements Leadership {
  readonly term: bigint;
  readonly #controller = new AbortController();
  readonly lost: AbortSignal = this.#controller.signal;

  constructor(term: bigint) {
    this.term = term;
  }

  isWithinWindow(): boolean {
    return !this.lost.aborted;
  }

  /** Idempotent: the first reason stands. */
  end(reason: LossReason): void {
    this.#controller.abort(reason);
  }
}
