// A shard names a transfer that the ledger does not have: the ledger was restored from before it, or
// the record was finished and collected, or its shard was removed. CLAIMED proves that it was committed
// once. RELEASED proves that too, but not that the recipient still is who it was: one that has heard us
// and claims nothing gets nothing. FROZEN alone proves nothing, and the donor may go on only when its
// peer can neither hold the machines nor still be told to take them by a leader of the past.

import { type TransferStatus, TransferState } from '@bigfleet/wire';
import type { FleetView } from '../state/fleet-view.ts';
import { type DonorHolds, orderOfFrozen } from './frozen-order.ts';
import { isDonor, isGone, type Party } from './party.ts';
import { isLater } from './transfer-id.ts';

export interface LostFacts {
  readonly status: TransferStatus;
  readonly reporter: Party;
  /** The other side, as the status names it. */
  readonly peer: Party;
  readonly state: FleetView;
  /** The ledger is younger than its shards: it was restored, and this shard's part is not rebuilt. */
  readonly isRecovering: boolean;
  readonly donorHolds: DonorHolds;
  /** The peer is not registered, and somebody remembers it from before the restore. */
  readonly mayPeerTurnUp: boolean;
}

export type LostStep =
  | { readonly do: 'wait' }
  | { readonly do: 'cancel' }
  /** The ledger gives the machines away by this transfer, or a later one: it was committed. */
  | { readonly do: 'release' }
  | { readonly do: 'rebuild'; readonly machineIds: readonly string[] }
  /** Nothing hangs on it any more: the shard may forget it. */
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

/** It can neither hold the machines nor be told to take them any more. */
function isPeerOut({ peer, mayPeerTurnUp }: LostFacts): boolean {
  if (peer.hasHeardUs) return true;
  // An unknown shard is a removed one, whose process is stopped; except after a restore, where it may
  // be one that registered after the snapshot and only has not spoken yet.
  return !peer.isRegistered && !mayPeerTurnUp;
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
 * Only of machines whose present override is not of a later transfer. One of this very transfer is
 * no reason to forget it: the donor may still stand frozen, and only the record moves it on. Outside of recovery a missing
 * record is one that was collected, or one that died with its shard: what the ledger says holds.
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
