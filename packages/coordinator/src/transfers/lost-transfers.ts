// Transfers that a shard names and the ledger does not have: decided by decide-lost.ts, done here.

import type { TransferStatus } from '@bigfleet/wire';
import { supplyOf } from '../moves/participants.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { LostStep } from './decide-lost.ts';
import type { DonorHolds } from './frozen-order.ts';
import { isDonor, partyOf, type Witness } from './party.ts';
import type { SagaHands } from './saga-hands.ts';
import type { SagaRules } from './saga-rules.ts';

export interface LostTransfersOptions {
  readonly soft: SoftState;
  readonly hands: SagaHands;
  readonly rules: SagaRules;
  readonly recovery: SagaRecovery;
}

/** What sagas ask of recovery (coordinator §10.5). */
export interface SagaRecovery {
  isRecovering(shardId: string): boolean;
  donorHolds(shardId: string, machineIds: readonly string[]): DonorHolds;
  mayTurnUp(shardId: string): boolean;
}

export class LostTransfers {
  readonly #options: LostTransfersOptions;

  constructor(options: LostTransfersOptions) {
    this.#options = options;
  }

  decide(witness: Witness, shardId: string, status: TransferStatus): LostStep {
    const { rules, recovery } = this.#options;
    return rules.decideLost({
      status,
      reporter: partyOf(witness, status.transferId, { shardId }),
      peer: partyOf(witness, status.transferId, { shardId: status.peerShardId }),
      state: witness.state,
      isRecovering: recovery.isRecovering(shardId),
      donorHolds: recovery.donorHolds(shardId, status.machineIds),
      mayPeerTurnUp: recovery.mayTurnUp(status.peerShardId),
    });
  }

  async hear(witness: Witness, shardId: string, status: TransferStatus): Promise<void> {
    const step = this.decide(witness, shardId, status);
    const isFromHere = isDonor(status);
    const subject = {
      id: status.transferId,
      from: isFromHere ? shardId : status.peerShardId,
      to: isFromHere ? status.peerShardId : shardId,
      machineIds: status.machineIds,
    };
    const { hands } = this.#options;
    if (step.do === 'cancel') hands.tell(shardId, subject, 'CANCEL');
    if (step.do === 'release') hands.tell(shardId, subject, 'RELEASE');
    if (step.do === 'rebuild') {
      const providerAddress = this.#sharedAddress(shardId);
      await hands.rebuild({ ...subject, machineIds: step.machineIds, providerAddress });
    }
  }

  /** Which provider it was is in no status; the record only needs one that the shard shares. */
  #sharedAddress(shardId: string): string {
    const picture = this.#options.soft.picture(shardId);
    const shared = picture && supplyOf(picture).find(({ isShared }) => isShared);
    return shared?.address ?? 'unknown';
  }
}
