// A shard names a transfer that the ledger does not have: the ledger was restored from before it, or
// the record was finished and collected, or its shard was removed. `decideLost` says what becomes of
// it, from the evidence alone; `lostFacts` asks for the facts and `hearLost` carries the answer out.
//
// CLAIMED proves a commit. RELEASED proves one too, but not that the recipient still is who it was: a
// recipient that has heard this leadership and claims nothing gets nothing. FROZEN proves nothing, and
// the donor goes on only when its peer can neither hold the machines nor be told to take them by a
// leader of the past.

import { TransferState, type TransferStatus } from '@bigfleet/wire';
import { dialledProviders } from '../reports/dialled-providers.ts';
import type { FleetView } from '../state/fleet-state.ts';
import {
  type DonorHolds,
  isDonor,
  isGone,
  orderOfFrozen,
  type Party,
  partyOf,
  type SagaParts,
} from './saga-facts.ts';
import type { SagaHands } from './saga-hands.ts';
import { isLater } from './transfer-id.ts';

export interface LostFacts {
  readonly status: TransferStatus;
  /** The other side, as the status names it. */
  readonly peer: Party;
  readonly state: FleetView;
  /** The ledger was restored, and the reporter's part of it is not rebuilt yet. */
  readonly isRecovering: boolean;
  readonly donorHolds: DonorHolds;
  /** The peer is not registered, and another shard remembers it from before the restore. */
  readonly mayPeerTurnUp: boolean;
}

export type LostStep =
  | { readonly do: 'wait' }
  | { readonly do: 'cancel' }
  /** The ledger gives the machines away by this transfer or a later one: it was committed. */
  | { readonly do: 'release' }
  | { readonly do: 'rebuild'; readonly machineIds: readonly string[] }
  /** Nothing depends on the transfer any more: the shard may forget it. */
  | { readonly do: 'retire' };

export function decideLost(facts: LostFacts): LostStep {
  const { status, peer } = facts;
  if (isGone(status)) return { do: 'retire' };
  if (isDonor(status) && status.state === TransferState.FROZEN) {
    if (peer.isClaimed) return rebuild(facts, peer.machineIds);
    if (isGivenAway(facts)) return { do: 'release' };
    return isPeerOut(facts) ? frozenStep(facts) : { do: 'wait' };
  }
  if (!isDonor(status) || peer.isClaimed || !facts.isRecovering) {
    return rebuild(facts, status.machineIds);
  }
  return isPeerOut(facts) ? { do: 'retire' } : { do: 'wait' };
}

/**
 * The peer can neither hold the machines nor be told to take them any more. An unregistered peer is a
 * removed shard, whose process is stopped; except after a restore, where it may be a shard that
 * registered after the snapshot and has not reported yet.
 */
function isPeerOut({ peer, mayPeerTurnUp }: LostFacts): boolean {
  return peer.hasHeardUs || (!peer.isRegistered && !mayPeerTurnUp);
}

function frozenStep({ donorHolds }: LostFacts): LostStep {
  const order = orderOfFrozen(donorHolds);
  return { do: ({ CANCEL: 'cancel', RELEASE: 'release', wait: 'wait' } as const)[order] };
}

function isGivenAway({ status, state }: LostFacts): boolean {
  return status.machineIds.some((id) => {
    const held = state.override(id);
    return held !== undefined && !isLater(status.transferId, held.transferId);
  });
}

/**
 * Only machines whose present override is not of a later transfer are rebuilt. An override of this very
 * transfer is rebuilt too: the donor may still stand frozen, and only the record moves it on. Outside
 * of recovery a missing record was collected or died with its shard: what the ledger says holds.
 */
function rebuild(facts: LostFacts, machineIds: readonly string[]): LostStep {
  const { status, state } = facts;
  if (!facts.isRecovering) return { do: 'retire' };
  const open = machineIds.filter((id) => {
    const held = state.override(id);
    return held === undefined || !isLater(held.transferId, status.transferId);
  });
  return open.length === 0 ? { do: 'retire' } : { do: 'rebuild', machineIds: open };
}

export function lostFacts(parts: SagaParts, shardId: string, status: TransferStatus): LostFacts {
  const { recovery, ledger } = parts;
  return {
    status,
    peer: partyOf(parts, status.transferId, { shardId: status.peerShardId }),
    state: ledger.state,
    isRecovering: recovery.isRecovering(shardId),
    donorHolds: recovery.donorHolds(shardId, status.machineIds),
    mayPeerTurnUp: recovery.mayTurnUp(status.peerShardId),
  };
}

export async function hearLost(
  { soft }: SagaParts,
  hands: SagaHands,
  shardId: string,
  status: TransferStatus,
  step: LostStep,
): Promise<void> {
  const isFromHere = isDonor(status);
  const subject = {
    id: status.transferId,
    from: isFromHere ? shardId : status.peerShardId,
    to: isFromHere ? status.peerShardId : shardId,
    machineIds: status.machineIds,
  };
  if (step.do === 'cancel') hands.tell(shardId, subject, 'CANCEL');
  if (step.do === 'release') hands.tell(shardId, subject, 'RELEASE');
  if (step.do === 'rebuild') {
    // No status names the provider; the record only needs one that the shard shares.
    const report = soft.picture(shardId)?.report;
    const shared = report && dialledProviders(report).find(({ isShared }) => isShared);
    const providerAddress = shared?.address ?? 'unknown';
    await hands.rebuild({ ...subject, machineIds: step.machineIds, providerAddress });
  }
}
