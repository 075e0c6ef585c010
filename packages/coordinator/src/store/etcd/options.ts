// What the etcd engine is given. Times have defaults from the specification; everything that knows
// the rest of the process (dialling a peer, metrics, terms seen elsewhere) is a function.

import type { Runtime } from '@bigfleet/base';
import type { Channel } from '@bigfleet/wire';
import type { EtcdClient } from '../../etcd-client/client.ts';
import type { LossReason } from '../store.ts';
import type { KeySpace } from './key-space.ts';

/** What every rule of the engine works with. */
export interface EtcdAccess {
  readonly runtime: Runtime;
  readonly client: EtcdClient;
  readonly keys: KeySpace;
}

export interface EtcdStoreOptions {
  readonly runtime: Runtime;
  /** Owned by the store from here on: `close()` closes it. */
  readonly client: EtcdClient;
  readonly nodeId: string;
  /** What the `leader` key tells followers and clients to dial. */
  readonly grpcAddress: string;
  /** Empty with an external etcd. */
  readonly peerAddress: string;
  readonly version: string;
  /** May this process write first into an empty store? */
  readonly bootstrap: boolean;
  /** Default `/bigfleet/`. */
  readonly prefix?: string;
  /** Default 5 s, at least 3 s. */
  readonly leaderLeaseTtlMs?: number;
  /**
   * The data-dir lock of this node id is held: a `leader` key with our own node id is then a dead
   * predecessor's, and its lease is revoked at once.
   */
  readonly holdsNodeLock: boolean;
  /** For the health stream to the leader; without it dead leaders are replaced by the TTL only. */
  readonly dialLeader?: (grpcAddress: string) => Channel;
  /** `<data-dir>/restore.json`, folded in by the first election after a restore. */
  readonly restoreFile?: string;
  readonly observer?: EtcdStoreObserver;
}

/** Every callback is cheap and does not throw. */
export interface EtcdStoreObserver {
  onWon?(term: bigint): void;
  onLost?(reason: LossReason): void;
  onLeaseRevoked?(): void;
  /** Background work failed and will be tried again: registration, polling, the health stream. */
  onProblem?(what: string, error: unknown): void;
}

export const defaultLeaseTtlMs = 5_000;
export const minLeaseTtlMs = 3_000;
/** The window closes this long before the lease could end. */
export const windowMarginMs = 1_500;
/** A linearizable look at one key. */
export const readDeadlineMs = 2_000;
export const maxCommitDeadlineMs = 5_000;
