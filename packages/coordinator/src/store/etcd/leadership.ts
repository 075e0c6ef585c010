// One leadership on etcd: the term, what every guard compares with (create revision of the leader
// key, the lease), the lease window, and what the ledger looked like at our last write. It ends
// once, for one reason, and never comes back: a new campaign makes a new one.

import type { RowKey } from '../../state/rows.ts';
import type { Leadership, LossReason } from '../store.ts';
import type { Won } from './election.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import type { EtcdAccess } from './options.ts';
import { type ApplyValue, firstApply } from './values.ts';

export interface EtcdLeadershipOptions extends Pick<EtcdAccess, 'runtime' | 'client'>, Won {
  readonly onLost: (reason: LossReason) => void;
}

export class EtcdLeadership implements Leadership {
  readonly term: bigint;
  readonly leaderRevision: bigint;
  readonly leaseId: bigint;
  readonly cursor: LedgerCursor = new LedgerCursor();
  readonly #controller = new AbortController();
  readonly lost: AbortSignal = this.#controller.signal;
  readonly #keeper: LeaseKeeper;
  readonly #onLost: (reason: LossReason) => void;

  constructor(options: EtcdLeadershipOptions) {
    const { lease, term, leaderRevision, onLost } = options;
    this.term = term;
    this.leaderRevision = leaderRevision;
    this.leaseId = lease.id;
    this.#onLost = onLost;
    this.#keeper = new LeaseKeeper({ ...options, onEnded: () => this.lose('lease_lost') });
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

/**
 * What this leader knows to be in etcd: the apply record and its revision, and the revision of every
 * row. Guards compare with exactly this, so whatever changed behind our back makes a transaction
 * fail instead of being overwritten (G3, G5). Filled by a load, moved by our own commits only.
 */
export class LedgerCursor {
  /** Bounded by the rows of the store itself. */
  rows: Map<RowKey, bigint> = new Map();
  apply: ApplyValue = firstApply;
  applyRevision = 0n;

  /** 0 = there is no such row. */
  revisionOf(key: RowKey): bigint {
    return this.rows.get(key) ?? 0n;
  }

  moveApply(apply: ApplyValue, applyRevision: bigint): void {
    this.apply = apply;
    this.applyRevision = applyRevision;
  }
}
