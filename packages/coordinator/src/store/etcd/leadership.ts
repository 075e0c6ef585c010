// One leadership on etcd: the term, what every guard compares with (create revision of the leader
// key, the lease), the lease window, and what the ledger looked like at our last write. It ends
// once, for one reason, and never comes back: a new campaign makes a new one.

import type { Runtime } from '@bigfleet/base';
import type { EtcdClient, GrantedLease } from '../../etcd-client/index.ts';
import type { Leadership, LossReason } from '../store.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { LedgerCursor } from './ledger-cursor.ts';

export interface EtcdLeadershipOptions {
  readonly runtime: Runtime;
  readonly client: EtcdClient;
  readonly lease: GrantedLease;
  readonly term: bigint;
  /** Create revision of the leader key: the revision of the transaction that won. */
  readonly leaderRevision: bigint;
  readonly onLost: (reason: LossReason) => void;
}

export class EtcdLeadership implements Leadership {
  readonly term: bigint;
  readonly leaderRevision: bigint;
  readonly leaseId: bigint;
  readonly cursor: LedgerCursor = new LedgerCursor();
  readonly #controller = new AbortController();
  readonly #keeper: LeaseKeeper;
  readonly #onLost: (reason: LossReason) => void;

  constructor({ runtime, client, lease, term, leaderRevision, onLost }: EtcdLeadershipOptions) {
    this.term = term;
    this.leaderRevision = leaderRevision;
    this.leaseId = lease.id;
    this.#onLost = onLost;
    this.#keeper = new LeaseKeeper({
      runtime,
      client,
      lease,
      onEnded: () => this.lose('lease_lost'),
    });
  }

  get lost(): AbortSignal {
    return this.#controller.signal;
  }

  isWithinWindow(): boolean {
    return !this.lost.aborted && this.#keeper.isWithinWindow();
  }

  /** Notices a window that has closed before its timer fired: a stalled loop runs late. */
  stillHolds(): boolean {
    if (this.lost.aborted) return false;
    if (this.#keeper.isWithinWindow()) return true;
    this.lose('lease_lost');
    return false;
  }

  lose(reason: LossReason): void {
    if (this.lost.aborted) return;
    this.#keeper.stop();
    this.#controller.abort(reason);
    this.#onLost(reason);
  }
}
