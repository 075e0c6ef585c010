// What a saga knows and what it may do next, as data: the two sides of a transfer, the donor's answer,
// the facts a decision is made from, and the steps it may ask for. Deciding is pure (decide-machines.ts,
// decide-quota.ts, lost-transfers.ts); doing is in saga-hands.ts. Evidence is only what a shard wrote
// into its own report of this leadership; silence proves nothing.

import type { TransferAbort } from '@bigfleet/base';
import {
  entriesSorted,
  type InstructAck,
  InstructAck_Outcome,
  TransferRole,
  TransferState,
  type TransferStatus,
} from '@bigfleet/wire';
import {
  type InstructionQueue,
  MAX_FAILURES,
  type PendingInstruction,
} from '../instructions/instruction-queue.ts';
import type { LeaderContext } from '../metrics/observer.ts';
import type { Cooldowns } from '../moves/cooldowns.ts';
import type { Reservations } from '../moves/reservations.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import { isFresh, type SoftState } from '../reports/soft-state.ts';
import type { TransferRow } from '../state/rows.ts';

/** What the sagas and the rebalancer of one leadership share. */
export interface SagaParts extends LeaderContext {
  readonly soft: SoftState;
  readonly queue: InstructionQueue;
  readonly cooldowns: Cooldowns;
  readonly reservations: Reservations;
  readonly recovery: SagaRecovery;
  readonly settings: RebalanceSettings;
}

/** What sagas ask of recovery (coordinator §10.5). */
export interface SagaRecovery {
  isRecovering(shardId: string): boolean;
  donorHolds(shardId: string, machineIds: readonly string[]): DonorHolds;
  mayTurnUp(shardId: string): boolean;
}

/**
 * What a saga says by instruction. A commit is said by the assignment alone; RELEASE ends a freeze that no
 * assignment names: the machine is not the donor's any more, and its override is gone or in doubt.
 */
export type OwnershipOrder = 'PREPARE' | 'RELEASE' | 'CANCEL';

/** Each step is safe to repeat: a leader that dies between two of them leaves nothing half-done. */
export type SagaStep =
  /** The instruction stays pending until it is acknowledged, and is never pending twice. */
  | { readonly do: 'tell'; readonly shardId: string; readonly order: OwnershipOrder }
  | { readonly do: 'tell-slice'; readonly shardId: string }
  /** Ownership changes hands here, and nowhere else. */
  | { readonly do: 'commit'; readonly machineIds: readonly string[] }
  | { readonly do: 'recommit'; readonly machineIds: readonly string[] }
  | { readonly do: 'abort'; readonly reason: TransferAbort }
  | { readonly do: 'finish' }
  | { readonly do: 'grow' }
  | { readonly do: 'give-back' };

export interface SagaFacts {
  readonly row: TransferRow;
  readonly donor: Party;
  readonly recipient: Party;
  readonly answer: DonorAnswer | undefined;
  /** Monotonic time since this leadership first saw the record. */
  readonly ageMs: number;
  /**
   * The record is older than this leadership and the ledger was restored once: the transfer may have
   * gone on beyond the snapshot, so only what both shards report counts.
   */
  readonly isDoubtful: boolean;
  readonly donorHolds: DonorHolds;
  /** Recovery has not yet put together what one of the two shards owns. */
  readonly isRecovering: boolean;
  /** Machines that the ledger still gives to the recipient by this very transfer. */
  readonly liveIds: readonly string[];
  /** The donor acts on an assignment that shows the commit, so that it owns none of the machines. */
  readonly donorFollows: boolean;
  readonly minBenefit: number;
  /** The machine moved a short while ago. */
  isMachineCooling(machineId: string): boolean;
}

/**
 * What the donor answered to PREPARE, or to its smaller slice, in this leadership. A new leader asks
 * again, and a donor that stands still answers the same from its file.
 */
export type DonorAnswer =
  | {
      readonly kind: 'accepted';
      readonly machineIds: readonly string[];
      /** Undefined from a shard that does not report it: the benefit is unknown, so nothing moves. */
      readonly covered: readonly (readonly [string, string])[] | undefined;
    }
  | { readonly kind: 'rejected'; readonly reasonCode: string }
  | { readonly kind: 'failed' };

/**
 * Undefined: the ack answers nothing. A shard that only remembers having carried out the instruction
 * does not repeat the result; the question goes out again under a new id and is answered in full.
 */
export function answerOf(pending: PendingInstruction, ack: InstructAck): DonorAnswer | undefined {
  switch (ack.outcome) {
    case InstructAck_Outcome.ACCEPTED: {
      if (ack.reasonCode === 'duplicate_redelivery' && ack.machineIds.length === 0)
        return undefined;
      const covered = ack.covered && entriesSorted(ack.covered.resources);
      return { kind: 'accepted', machineIds: [...ack.machineIds], covered };
    }
    case InstructAck_Outcome.REJECTED_INVALID:
      return { kind: 'rejected', reasonCode: ack.reasonCode };
    case InstructAck_Outcome.REJECTED_STALE:
      return undefined;
    default:
      return pending.failures >= MAX_FAILURES ? { kind: 'failed' } : undefined;
  }
}

/** One side of a transfer, as the ledger and the shard's last report show it. */
export interface Party {
  readonly shardId: string;
  /** The shard of the record, and not a later one of the same name. */
  readonly isRegistered: boolean;
  /** A report of this leadership exists. */
  readonly hasReported: boolean;
  readonly isFresh: boolean;
  /**
   * The shard reported after it had heard this leadership, so it never obeys an older leader again.
   * Only then is "reports no CLAIMED" final.
   */
  readonly hasHeardUs: boolean;
  readonly isFrozen: boolean;
  readonly isReleased: boolean;
  /** CLAIMED or GONE: a machine that is gone was claimed once. */
  readonly isClaimed: boolean;
  /** Machines named in any status of this transfer. */
  readonly machineIds: readonly string[];
}

/** `uid` undefined: any shard of that name. */
export function partyOf(
  { soft, ledger, runtime }: SagaParts,
  transferId: string,
  { shardId, uid }: { readonly shardId: string; readonly uid?: number },
): Party {
  const shard = ledger.state.shard(shardId);
  const picture = soft.picture(shardId);
  const held = (picture?.report.transfers ?? []).filter((s) => s.transferId === transferId);
  return {
    shardId,
    isRegistered: shard !== undefined && (uid === undefined || shard.uid === uid),
    hasReported: picture !== undefined,
    isFresh: picture !== undefined && isFresh(picture, runtime.clock.monotonicMs()),
    hasHeardUs: picture !== undefined && picture.report.observedCoordinatorTerm >= ledger.term,
    isFrozen: held.some((s) => isDonor(s) && s.state === TransferState.FROZEN),
    isReleased: held.some((s) => isDonor(s) && s.state === TransferState.RELEASED),
    isClaimed: held.some(isClaim),
    machineIds: [...new Set(held.flatMap((s) => s.machineIds))],
  };
}

export function isDonor(status: TransferStatus): boolean {
  return status.role === TransferRole.DONOR;
}

export function isGone(status: TransferStatus): boolean {
  return status.role === TransferRole.RECIPIENT && status.state === TransferState.GONE;
}

function isClaim(status: TransferStatus): boolean {
  const { role, state } = status;
  return isGone(status) || (role === TransferRole.RECIPIENT && state === TransferState.CLAIMED);
}

/**
 * How a donor came by the machines that it has frozen; `unknown` before it said what it holds. In a
 * ledger that was never restored nobody is asked, and what the ledger says is true: `by-rule`.
 */
export type DonorHolds = 'by-rule' | 'by-transfer' | 'unknown';

/**
 * How a freeze ends that the recipient does not claim, after a restore. The transfer may have been
 * committed behind the snapshot and its recipient removed since; the machine then went to its domain or
 * home. A donor that owns the machine by domain or home goes on with it. A donor that had the machine
 * by an earlier transfer lets go: another shard may act on it by now.
 */
export function orderOfFrozen(holds: DonorHolds): 'CANCEL' | 'RELEASE' | 'wait' {
  if (holds === 'unknown') return 'wait';
  return holds === 'by-rule' ? 'CANCEL' : 'RELEASE';
}

interface SagaNote {
  readonly seenMs: number;
  answer: DonorAnswer | undefined;
  /** Assignments from this revision on show the commit; undefined before it is seen. */
  shownFrom: number | undefined;
}

/**
 * What one leadership remembers of each open transfer: since when it knows the transfer, what the donor
 * answered, and since which revision the commit is shown. Soft: a new leader asks again, and begins with
 * the revision of its first look, which is later and as good.
 */
export class SagaMemory {
  readonly #notes = new Map<string, SagaNote>();

  note(id: string, nowMs: number): SagaNote {
    const known = this.#notes.get(id);
    if (known !== undefined) return known;
    const note: SagaNote = { seenMs: nowMs, answer: undefined, shownFrom: undefined };
    this.#notes.set(id, note);
    return note;
  }

  keepOnly(openIds: ReadonlySet<string>): void {
    for (const id of this.#notes.keys()) if (!openIds.has(id)) this.#notes.delete(id);
  }
}
