// Cross-shard drains (tier 3): one instruction to the donor and no record in the ledger, because no ownership
// moves. Machines that the donor drains are remembered as reserved for the recipient.

import { type InstructAck, InstructAck_Outcome, type PenaltyBucket } from '@bigfleet/wire';
import { MAX_FAILURES, type PendingInstruction } from '../instructions/instruction-queue.ts';
import type { DrainMove } from '../moves/plan.ts';
import { RESERVE_TTL_SECONDS } from '../moves/reservations.ts';
import { wireSelector } from './orders.ts';
import type { SagaParts } from './saga-facts.ts';

export function emitDrain(
  { runtime, queue, reservations }: SagaParts,
  move: DrainMove,
  id: string,
): PendingInstruction | 'full' {
  const bucket = move.selector.interruptionPenaltyBucket as PenaltyBucket;
  const said = queue.enqueue(
    move.from,
    {
      case: 'crossShardDrain',
      value: {
        $typeName: 'bigfleet.v1alpha1.CrossShardDrain',
        machineIds: [],
        preemptorPriority: move.shortfall.priority,
        selector: wireSelector(move.selector, move.providerAddress),
        preemptorInterruptionPenaltyBucket: bucket,
        reserveTtlSeconds: RESERVE_TTL_SECONDS,
        toShardId: move.to,
      },
    },
    id,
  );
  if (said !== 'full') reservations.note(move.from, move.to, 0, runtime.clock.monotonicMs());
  return said;
}

export function onDrainAck(parts: SagaParts, pending: PendingInstruction, ack: InstructAck): void {
  const { payload } = pending.instruction;
  if (payload.case !== 'crossShardDrain') return;
  const { runtime, reservations, observer } = parts;
  const recipient = payload.value.toShardId;
  if (ack.outcome === InstructAck_Outcome.ACCEPTED) {
    const count = ack.machineIds.length;
    reservations.note(pending.shardId, recipient, count, runtime.clock.monotonicMs());
    observer.onRebalanceMove('3', 'accepted');
  } else if (ack.outcome === InstructAck_Outcome.REJECTED_INVALID) {
    reservations.settle(pending.shardId, recipient);
    observer.onRebalanceMove('3', 'rejected');
  } else if (pending.failures >= MAX_FAILURES) {
    reservations.settle(pending.shardId, recipient);
    observer.onRebalanceMove('3', 'failed');
  }
}
