// What a ShardControl (control.ts) reports, the orders that it takes and how they end. Orders are idempotent
// by transfer id and answer with an outcome, never with an exception, except for a disk that cannot keep
// what must be durable.

import type { InstructionReason } from '@bigfleet/base';
import type { DomainRef, MachineOverride, RegistryTarget } from './assignment.ts';
import type { MachineSelector, Preemptor } from './selection.ts';
import type { TransferReport } from './transfer-book.ts';

export interface OwnershipReport {
  /** As `Control.revision`. */
  readonly revision: bigint;
  readonly transfers: readonly TransferReport[];
  readonly isProviderShared: boolean;
  /** Being given up, and not known to be empty. */
  readonly releasingDomains: readonly DomainRef[];
}

export interface HeldOwnership {
  readonly domains: readonly DomainRef[];
  readonly overrides: readonly MachineOverride[];
  readonly providers: readonly RegistryTarget[];
  /** Addresses whose unmatched machines it acts on. */
  readonly homes: readonly string[];
  /** Shards that it knows to own something beside it. */
  readonly others: readonly string[];
}

export interface PrepareOrder {
  readonly transferId: string;
  readonly toShardId: string;
  readonly selector: MachineSelector;
}

export interface TransferOrder {
  readonly transferId: string;
  readonly peerShardId: string;
  /** Possibly empty: then the book or the assignment knows them. */
  readonly machineIds: readonly string[];
}

export interface ForeignDrainOrder {
  readonly selector: MachineSelector;
  readonly preemptor: Preemptor;
  readonly toShardId: string;
  readonly reserveTtlMs: number;
  /** When not empty, only these. */
  readonly machineIds: readonly string[];
}

export type OrderOutcome =
  | {
      readonly kind: 'accepted';
      readonly machineIds?: readonly string[];
      /** Quantities by resource name. */
      readonly covered?: ReadonlyMap<string, string>;
    }
  /** Repeating it would end the same. */
  | { readonly kind: 'rejected'; readonly code: InstructionReason; readonly detail: string }
  /** May succeed when it is repeated. */
  | { readonly kind: 'failed'; readonly code: InstructionReason | ''; readonly detail: string };

export const accepted: OrderOutcome = { kind: 'accepted' };

export function rejected(code: InstructionReason, detail: string): OrderOutcome {
  return { kind: 'rejected', code, detail };
}

export function failed(code: InstructionReason | '', detail: string): OrderOutcome {
  return { kind: 'failed', code, detail };
}
