// What a saga wants done next, as data. Deciding is pure and in decide-*.ts; doing is in the driver.
// Each step is safe to repeat: a leader that dies between two of them leaves nothing half-done.

import type { TransferAbort } from '@bigfleet/base';
import type { TransferRow } from '../state/rows.ts';
import type { DonorAnswer } from './donor-answer.ts';
import type { DonorHolds } from './frozen-order.ts';
import type { Party } from './party.ts';

export type OwnershipOrder = 'PREPARE' | 'CLAIM' | 'RELEASE' | 'CANCEL';

export type SagaStep =
  /** Kept pending until acknowledged; never said twice at once. */
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
  /** Since this leadership first saw the record; monotonic. */
  readonly ageMs: number;
  /**
   * The record is from before this leadership and the ledger was restored once: its real history may
   * have gone on beyond the snapshot, so only what both shards say counts.
   */
  readonly isDoubtful: boolean;
  readonly donorHolds: DonorHolds;
  /** What one of the two owns is still being put together after a restore. */
  readonly isRecovering: boolean;
  /** Machines that the ledger still gives to the recipient by this very transfer. */
  readonly liveIds: readonly string[];
  readonly minBenefit: number;
  /** Moved a short while ago. */
  isMachineCooling(machineId: string): boolean;
}
