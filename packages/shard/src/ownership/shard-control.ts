// The port through which the shard is steered by a process that knows the whole fleet: its reports and its
// orders. The shard does not know which process that is, when it speaks, or over which transport
// (coordinator R1). Every method may be called at any time and none waits for the decision loop.
//
// Reports are values as of the call. Orders are idempotent by transfer id and answer with an outcome,
// never with an exception, except for a disk that cannot keep what must be durable.

import type { InstructionReason } from '@bigfleet/base';
import type { Shortfall } from '@bigfleet/engine';
import type {
  DomainRef,
  MachineOverride,
  QuotaSlice,
  RegistryTarget,
  ShardAssignment,
} from './assignment.ts';
import type { FleetSummary } from './fleet-summary.ts';
import type { MachineSelector, Preemptor } from './selection.ts';
import type { TransferReport } from './transfer-book.ts';

export interface ShardControl {
  readonly shardId: string;
  readonly epoch: bigint;
  /** Why no order to act is taken; undefined when actuation is on. */
  readonly inactive: 'actuation_paused' | 'dry_run' | undefined;

  /** Of the last assignment that is durable and in force; 0 asks for it again. */
  readonly revision: bigint;
  /** Of the transfer that a machine is promised to. */
  frozenTransferOf(machineId: string): string | undefined;

  summary(): FleetSummary;
  /** At most so many, highest priority first. */
  shortfalls(limit: number): readonly Shortfall[];
  ownership(): OwnershipReport;
  /** Clusters served here. */
  clusterIds(): readonly string[];
  /** What it acts on, for a ledger that lost it. */
  held(): HeldOwnership;

  /** Durable and in force when it resolves. */
  applyAssignment(assignment: ShardAssignment): Promise<void>;
  /** Before each report: a domain that the report does not name stays closed, also if the answer is lost. */
  closeEmptyDomains(): Promise<void>;
  /** The ledger took a report, and had no assignment to send. */
  answeredWithoutAssignment(): void;
  retireTransfers(transferIds: readonly string[]): Promise<void>;

  assignDomain(domain: Pick<DomainRef, 'key' | 'value'>): Promise<OrderOutcome>;
  unassignDomain(domain: Pick<DomainRef, 'key' | 'value'>): Promise<OrderOutcome>;
  setQuotaSlice(slice: QuotaSlice): Promise<OrderOutcome>;
  prepareTransfer(order: PrepareOrder): Promise<OrderOutcome>;
  claimTransfer(order: TransferOrder): Promise<OrderOutcome>;
  releaseTransfer(order: TransferOrder): Promise<OrderOutcome>;
  cancelTransfer(transferId: string): Promise<OrderOutcome>;
  drainForAnother(order: ForeignDrainOrder): Promise<OrderOutcome>;
}

export interface OwnershipReport {
  /** As `ShardControl.revision`. */
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
