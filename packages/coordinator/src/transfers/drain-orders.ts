// Cross-shard drains (tier 3): one instruction to the donor and no record in the ledger, because no ownership
// moves. Machines that the donor drains are remembered as reserved for the recipient.

import type { Clock } from '@bigfleet/base';
import { type InstructAck, InstructAck_Outcome, type PenaltyBucket } from '@bigfleet/wire';
import { MAX_FAILURES, type PendingInstruction } from '../instructions/instruction-queue.ts';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import type { DrainMove } from '../moves/plan.ts';
import { RESERVE_TTL_SECONDS, type Reservations } from '../moves/reservations.ts';
import { wireSelector } from './orders.ts';
import type { SagaQueue } from './saga-hands.ts';
import { drainId } from './transfer-id.ts';

export interface DrainOrdersOptions {
  readonly term: bigint;
  readonly clock: Clock;
  readonly queue: Pick<SagaQueue, 'enqueue'>;
  readonly reservations: Reservations;
  readonly observer: Pick<CoordinatorObserver, 'onRebalanceMove'>;
}

export class DrainOrders {
  readonly #options: DrainOrdersOptions;
  #count = 0;

  constructor(options: DrainOrdersOptions) {
    this.#options = options;
  }

  emit(move: DrainMove): PendingInstruction | 'full' {
    const { term, clock, queue, reservations } = this.#options;
    const bucket = move.selector.interruptionPenaltyBucket as PenaltyBucket;
    this.#count += 1;
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
      drainId(term, this.#count),
    );
    if (said !== 'full') reservations.note(move.from, move.to, 0, clock.monotonicMs());
    return said;
  }

  onAck(pending: PendingInstruction, ack: InstructAck): void {
    const { payload } = pending.instruction;
    if (payload.case !== 'crossShardDrain') return;
    const { clock, reservations, observer } = this.#options;
    const recipient = payload.value.toShardId;
    if (ack.outcome === InstructAck_Outcome.ACCEPTED) {
      const count = ack.machineIds.length;
      reservations.note(pending.shardId, recipient, count, clock.monotonicMs());
      observer.onRebalanceMove('3', 'accepted');
    } else if (ack.outcome === InstructAck_Outcome.REJECTED_INVALID) {
      reservations.settle(pending.shardId, recipient);
      observer.onRebalanceMove('3', 'rejected');
    } else if (pending.failures >= MAX_FAILURES) {
      reservations.settle(pending.shardId, recipient);
      observer.onRebalanceMove('3', 'failed');
    }
  }
}
