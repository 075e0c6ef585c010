// What executors need besides the fleet and the providers: the operators' side of a bootstrap and
// of a drain, and who sets the pace. Narrow on purpose: executors are tested without a session.

import type { ActionReason } from '@bigfleet/base';
import type { Requirement } from '@bigfleet/engine';
import type { ActionOrder } from './execution.ts';

export interface BlobOrder {
  readonly cluster: string;
  readonly machineId: string;
  readonly fingerprint: string;
  readonly requirements: readonly Requirement[];
}

export type BlobAnswer =
  /** `isExpired` is asked right before use: the blob carries a credential with a lifetime. */
  | { readonly kind: 'blob'; readonly userData: Uint8Array; readonly isExpired: () => boolean }
  /** The cluster cannot satisfy the requirements; its source holds the pair off by itself. */
  | { readonly kind: 'refused' }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'no_session' };

export interface BlobSource {
  /** Never rejects for what an operator does; a wait ends with `signal` at the latest. */
  pull(order: BlobOrder, signal: AbortSignal): Promise<BlobAnswer>;
}

/** What providers say to calls of orders that run, for the pace of the next ones. */
export interface PacePort {
  accepted(order: ActionOrder): void;
  throttled(order: ActionOrder): void;
}

export interface DrainNotice
  extends Pick<
    ActionOrder,
    'handle' | 'machineId' | 'cluster' | 'graceSeconds' | 'preemptorPriority'
  > {
  readonly reasonCode: ActionReason;
}

export type DrainStart =
  /** The operator evicts first; the desk says when the provider's turn has come. */
  | 'operator_first'
  /** No operator that reports completion: the provider drains with the whole grace. */
  | 'provider_now';

export interface DrainDesk {
  begin(notice: DrainNotice): DrainStart;
  /** Until `resume` no operator is told anything, no grace runs out and no drain comes due. */
  hold(): void;
  resume(): void;
  /** This process is the zombie: every drain that waits is forgotten. */
  abandon(): void;
}
