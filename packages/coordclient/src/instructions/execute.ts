// One instruction, from the wire to an order of the shard (coordinator §6.2). Whatever the shard does
// not understand, or may not do now, is refused with a code, never accepted: a handler that says yes
// and does nothing makes a dead pipeline look alive.

import { decodePenaltyBucket } from '@bigfleet/base';
import type { OrderOutcome, ShardControl } from '@bigfleet/shard';
import {
  type CoordinatorInstruction,
  type CrossShardDrain,
  type ReassignSpeculative,
  type TransferOwnership,
  TransferPhase,
} from '@bigfleet/wire';
import { selectorFromWire } from '../wire/orders.ts';

const DEFAULT_RESERVE_SECONDS = 600;
/** No reservation outlives a day, whatever was asked. */
const MAX_RESERVE_SECONDS = 86_400;

export async function executeInstruction(
  control: ShardControl,
  { payload }: CoordinatorInstruction,
): Promise<OrderOutcome> {
  switch (payload.case) {
    case 'assignDomain':
    case 'unassignDomain': {
      const { topologyKey: key, topologyValue: value } = payload.value;
      return key === ''
        ? malformed('its domain has no key')
        : control[payload.case]({ key, value });
    }
    case 'reassignSpeculative':
      return whileActive(control, () => reassign(control, payload.value));
    case 'crossShardDrain':
      return whileActive(control, () => drain(control, payload.value));
    case 'transferOwnership':
      return transfer(control, payload.value);
    default:
      return malformed('unknown payload');
  }
}

/** Bookkeeping goes on while actuation is off; what would move machines does not. */
async function whileActive(
  { inactive }: ShardControl,
  order: () => Promise<OrderOutcome>,
): Promise<OrderOutcome> {
  if (inactive === undefined) return order();
  const detail = inactive === 'dry_run' ? 'the shard runs dry' : 'actuation is paused';
  return { kind: 'rejected', code: inactive, detail };
}

async function reassign(control: ShardControl, order: ReassignSpeculative): Promise<OrderOutcome> {
  const { provider, region, newSlice } = order;
  if (provider === '') return malformed('it names no provider');
  if (newSlice < 0) return malformed(`a slice of ${newSlice}`);
  return control.setQuotaSlice({ provider, region, slice: newSlice });
}

async function drain(control: ShardControl, order: CrossShardDrain): Promise<OrderOutcome> {
  const selector = selectorFromWire(order.selector);
  if (!selector.ok) return malformed(selector.error);
  const interruptionBucket = decodePenaltyBucket(order.preemptorInterruptionPenaltyBucket);
  if (interruptionBucket === undefined) return malformed('its penalty bucket is unknown');
  const { preemptorPriority: priority, machineIds, toShardId, reserveTtlSeconds } = order;
  const seconds = reserveTtlSeconds > 0 ? reserveTtlSeconds : DEFAULT_RESERVE_SECONDS;
  return control.drainForAnother({
    selector: selector.value,
    preemptor: { priority, interruptionBucket },
    toShardId,
    machineIds,
    reserveTtlMs: Math.min(seconds, MAX_RESERVE_SECONDS) * 1_000,
  });
}

async function transfer(control: ShardControl, order: TransferOwnership): Promise<OrderOutcome> {
  const { transferId, fromShardId, toShardId, machineIds, phase } = order;
  const { shardId } = control;
  if (transferId === '') return malformed('it has no transfer id');
  switch (phase) {
    case TransferPhase.PREPARE: {
      if (fromShardId !== shardId) return malformed(`${fromShardId} is its donor`);
      const selector = selectorFromWire(order.selector);
      if (!selector.ok) return malformed(selector.error);
      return whileActive(control, () =>
        control.prepareTransfer({ transferId, toShardId, selector: selector.value }),
      );
    }
    case TransferPhase.CLAIM:
      if (toShardId !== shardId) return malformed(`${toShardId} is its recipient`);
      return control.claimTransfer({ transferId, peerShardId: fromShardId, machineIds });
    case TransferPhase.RELEASE:
      if (fromShardId !== shardId) return malformed(`${fromShardId} is its donor`);
      return control.releaseTransfer({ transferId, peerShardId: toShardId, machineIds });
    case TransferPhase.CANCEL:
      return control.cancelTransfer(transferId);
    default:
      return malformed('its phase is unknown');
  }
}

function malformed(detail: string): OrderOutcome {
  return { kind: 'rejected', code: 'unknown_payload', detail };
}
