// Where a provider keeps what must survive kill -9: records, fence marks, operation ids, revision
// and incarnation (provider-contract §13). The kit commits before it applies and before it acknowledges,
// so a store has one duty: a resolved commit is durable and whole, a rejected one left nothing.

import type { MachineRecord, OperationKind } from '../model/machine.ts';

export interface FenceMark {
  readonly shardId: string;
  readonly machineId: string;
  readonly epoch: bigint;
  readonly sequence: bigint;
}

export interface StoredOperation {
  readonly machineId: string;
  readonly kind: OperationKind;
  readonly operationId: string;
  /** What a re-drive after a restart needs (drain grace); never the bootstrap blob. */
  readonly gracePeriodSeconds?: bigint;
}

export type StoreChange =
  | { readonly kind: 'machine'; readonly record: MachineRecord }
  | { readonly kind: 'machine-removed'; readonly machineId: string }
  | { readonly kind: 'fence'; readonly mark: FenceMark }
  | { readonly kind: 'operation'; readonly operation: StoredOperation }
  | { readonly kind: 'revision'; readonly revision: number };

/** Everything a store holds; what a fresh process starts from. */
export interface StoreImage {
  readonly incarnation: string;
  readonly revision: number;
  readonly machines: readonly MachineRecord[];
  readonly fences: readonly FenceMark[];
  readonly operations: readonly StoredOperation[];
}

export interface Store {
  /**
   * Called once, before any commit. `undefined` on a first boot; rejects on a corrupt or locked
   * store, never answers with less than was acknowledged.
   */
  load(): Promise<StoreImage | undefined>;
  /** First boot only: makes the incarnation durable before the first commit. */
  initialise(incarnation: string): Promise<void>;
  /**
   * All changes of one call, or none. Calls resolve in the order they were made; concurrent ones
   * may share one fsync. Rejects with `STORE_UNAVAILABLE` when nothing was kept (a full disk);
   * later commits may succeed again without a restart.
   */
  commit(changes: readonly StoreChange[]): Promise<void>;
  /** Finishes pending commits, compacts where that pays, releases the lock. */
  close(): Promise<void>;
}
