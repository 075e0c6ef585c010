// What is known of one side of a transfer: whether it is still the shard that the record means, how
// lately it spoke, whether it can still obey an older leader, and what it holds. Evidence is only
// ever what a shard wrote into its own report; nothing here infers from silence.

import { type TransferStatus, TransferRole, TransferState } from '@bigfleet/wire';
import { isFresh } from '../moves/participants.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { FleetView } from '../state/fleet-view.ts';

export interface Party {
  readonly shardId: string;
  /** Registered, and not as a namesake that came later. */
  readonly isRegistered: boolean;
  /** A report of this leadership exists. */
  readonly hasReported: boolean;
  readonly isFresh: boolean;
  /**
   * It reported after it had heard this leadership: whatever an older leader sent, it will never
   * obey any more. Only then is "shows no CLAIMED" final.
   */
  readonly hasHeardUs: boolean;
  readonly isFrozen: boolean;
  readonly isReleased: boolean;
  /** CLAIMED, or GONE: gone machines were claimed once. */
  readonly isClaimed: boolean;
  /** Machines named in any of its statuses of this transfer. */
  readonly machineIds: readonly string[];
}

export interface Witness {
  readonly soft: SoftState;
  readonly state: FleetView;
  readonly term: bigint;
  readonly nowMs: number;
}

/** `uid` undefined: any shard of that name. */
export function partyOf(
  witness: Witness,
  transferId: string,
  side: { readonly shardId: string; readonly uid?: number },
): Party {
  const { soft, state, term, nowMs } = witness;
  const { shardId, uid } = side;
  const shard = state.shard(shardId);
  const picture = soft.picture(shardId);
  const held = (picture?.report.transfers ?? []).filter((s) => s.transferId === transferId);
  return {
    shardId,
    isRegistered: shard !== undefined && (uid === undefined || shard.uid === uid),
    hasReported: picture !== undefined,
    isFresh: picture !== undefined && isFresh(picture, nowMs),
    hasHeardUs: picture !== undefined && picture.report.observedCoordinatorTerm >= term,
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
  return (
    status.role === TransferRole.RECIPIENT &&
    (status.state === TransferState.CLAIMED || status.state === TransferState.GONE)
  );
}
