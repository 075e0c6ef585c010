// The instructions of a saga, and the question whether one is already on its way. An instruction
// rides on every reply until it is acknowledged, so saying it again would only fill the queue.

import {
  fromMap,
  type MachineSelector,
  type Operator,
  type PenaltyBucket,
  type Resources,
  TransferPhase,
  type TransferOwnership,
} from '@bigfleet/wire';
import type { InstructionPayload, PendingInstruction } from '../instructions/instruction-queue.ts';
import type { FleetView } from '../state/fleet-state.ts';
import type { SelectorRow, TransferRow } from '../state/rows.ts';
import type { OwnershipOrder } from './saga-facts.ts';

/** What an order is about; a record that the ledger has lost gives as much of it as is known. */
export type OrderSubject = Pick<TransferRow, 'id' | 'from' | 'to' | 'machineIds'> &
  Partial<Pick<TransferRow, 'selector' | 'providerAddress'>>;

export function ownershipPayload(subject: OrderSubject, order: OwnershipOrder): InstructionPayload {
  const value: TransferOwnership = {
    $typeName: 'bigfleet.v1alpha1.TransferOwnership',
    machineIds: [...subject.machineIds],
    fromShardId: subject.from,
    toShardId: subject.to,
    phase: TransferPhase[order],
    transferId: subject.id,
  };
  const { selector, providerAddress = '' } = subject;
  if (order === 'PREPARE' && selector) value.selector = wireSelector(selector, providerAddress);
  return { case: 'transferOwnership', value };
}

/** The whole slice as the ledger has it now, so that repeating the order changes nothing. */
export function slicePayload(
  state: FleetView,
  row: TransferRow,
  shardId: string,
): InstructionPayload | undefined {
  if (row.quota === null) return undefined;
  const { provider, region } = row.quota;
  const slices = state.quota(provider, region)?.slices ?? [];
  return {
    case: 'reassignSpeculative',
    value: {
      $typeName: 'bigfleet.v1alpha1.ReassignSpeculative',
      machineIds: [],
      transferId: row.id,
      provider,
      region,
      newSlice: slices.find((slice) => slice.shardId === shardId)?.slice ?? 0,
      fromShardId: row.from,
      toShardId: row.to,
    },
  };
}

export function wireSelector(selector: SelectorRow, providerAddress: string): MachineSelector {
  return {
    $typeName: 'bigfleet.ext.v1alpha1.MachineSelector',
    instanceType: selector.instanceType,
    zone: selector.zone,
    count: selector.count,
    requirements: selector.requirements.map(({ key, operator, values }) => ({
      $typeName: 'bigfleet.v1alpha1.NodeSelectorRequirement',
      key,
      operator: operator as Operator,
      values: [...values],
    })),
    deficit: wireResources(selector.deficit),
    minUnit: wireResources(selector.minUnit),
    providerAddress,
    interruptionPenaltyBucket: selector.interruptionPenaltyBucket as PenaltyBucket,
  };
}

/** The pending instruction of this transfer that says the same. */
export function alreadySaid(
  pending: readonly PendingInstruction[],
  transferId: string,
  payload: InstructionPayload,
): PendingInstruction | undefined {
  return pending.find(
    (other) => other.transferId === transferId && isSameOrder(other.instruction.payload, payload),
  );
}

function isSameOrder(a: InstructionPayload, b: InstructionPayload): boolean {
  if (a.case === 'transferOwnership' && b.case === 'transferOwnership') {
    return a.value.phase === b.value.phase;
  }
  if (a.case === 'reassignSpeculative' && b.case === 'reassignSpeculative') {
    return a.value.newSlice === b.value.newSlice;
  }
  return false;
}

function wireResources(entries: readonly (readonly [string, string])[]): Resources {
  return {
    $typeName: 'bigfleet.v1alpha1.Resources',
    resources: fromMap(new Map(entries.map(([name, quantity]) => [name, quantity]))),
  };
}
