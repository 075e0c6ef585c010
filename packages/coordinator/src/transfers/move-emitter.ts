// Gets a planned move under way: the ledger first, then the instruction. What was planned may no
// longer be possible when its turn comes (another command came between); the ledger's refusal is
// then the answer, and the next pass looks again.

import type { Clock } from '@bigfleet/base';
import { type InstructAck, InstructAck_Outcome, type PenaltyBucket } from '@bigfleet/wire';
import type { ApplyResult, Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver, MoveTier } from '../metrics/observer.ts';
import { flowOf } from '../moves/cooldowns.ts';
import type { DrainMove, IdleMove, Move, QuotaMove } from '../moves/plan.ts';
import type { SagaHands, SagaQuiet, SagaQueue } from './saga-hands.ts';
import type { SagaMemory } from './transfer-driver.ts';
import { transferId, drainId } from './transfer-id.ts';
import { MAX_FAILURES, type PendingInstruction } from '../instructions/instruction-queue.ts';
import { RESERVE_TTL_SECONDS, type Reservations } from '../moves/reservations.ts';
import { wireSelector } from './orders.ts';

export type EmitResult =
  | { readonly kind: 'emitted'; readonly transferId: string; readonly instructionId: string }
  | { readonly kind: 'refused'; readonly message: string };

export interface MoveEmitterOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly hands: SagaHands;
  readonly memory: SagaMemory;
  readonly drains: DrainOrders;
  readonly quiet: SagaQuiet;
  readonly observer: Pick<CoordinatorObserver, 'onRebalanceMove'>;
}

const TIERS: Readonly<Record<Move['tier'], MoveTier>> = { 1: '1', 2: '2', 3: '3' };

export class MoveEmitter {
  readonly #options: MoveEmitterOptions;
  readonly #beginning = new Set<string>();
  #count = 0;

  constructor(options: MoveEmitterOptions) {
    this.#options = options;
  }

  /** Its record exists and its first steps are still being made: nobody else may advance it. */
  isBeginning(id: string): boolean {
    return this.#beginning.has(id);
  }

  async emit(move: Move): Promise<EmitResult> {
    const result = await this.#emitTier(move);
    if (result.kind === 'emitted') {
      this.#options.quiet.cool(flowOfMove(move));
      this.#options.observer.onRebalanceMove(TIERS[move.tier], 'emitted');
    }
    return result;
  }

  #emitTier(move: Move): Promise<EmitResult> {
    switch (move.tier) {
      case 1:
        return this.#begin(move, (id) => this.#prepare(id));
      case 2:
        return this.#begin(move, (id) => this.#shrink(id, move));
      case 3:
        return Promise.resolve(this.#drain(move));
    }
  }

  async #begin(
    move: IdleMove | QuotaMove,
    first: (id: string) => Promise<EmitResult> | EmitResult,
  ): Promise<EmitResult> {
    const { ledger, memory, clock } = this.#options;
    this.#count += 1;
    const id = transferId(ledger.term, this.#count);
    this.#beginning.add(id);
    memory.note(id, clock.monotonicMs());
    try {
      const result = await ledger.apply({
        kind: 'BeginTransfer',
        id,
        from: move.from,
        to: move.to,
        tier: move.tier,
        providerAddress: move.providerAddress,
        reasonCode: move.shortfall.reasonCode,
        selector: move.tier === 1 ? move.selector : null,
      });
      return result.kind === 'applied' ? await first(id) : refusalOf(result);
    } finally {
      this.#beginning.delete(id);
    }
  }

  #prepare(id: string): EmitResult {
    const { ledger, hands } = this.#options;
    const row = ledger.state.transfer(id);
    if (row === undefined) return { kind: 'refused', message: 'the record is gone' };
    return emittedAs(id, hands.tell(row.from, row, 'PREPARE'));
  }

  async #shrink(id: string, move: QuotaMove): Promise<EmitResult> {
    const { ledger, hands } = this.#options;
    const begun = ledger.state.transfer(id);
    if (begun === undefined) return { kind: 'refused', message: 'the record is gone' };
    const result = await hands.moveQuota(begun, move, 'SHRINK');
    const row = ledger.state.transfer(id);
    // The loop aborts a record whose quota did not shrink.
    if (result.kind !== 'applied' || row === undefined) return refusalOf(result);
    return emittedAs(id, hands.tellSlice(row, row.from));
  }

  #drain(move: DrainMove): EmitResult {
    return emittedAs('', this.#options.drains.emit(move));
  }
}

function emittedAs(id: string, said: ReturnType<SagaHands['tellSlice']>): EmitResult {
  // The record stands and the loop says it again: only the instruction id is not known yet.
  const instructionId = said === 'full' || said === undefined ? '' : said.instruction.instructionId;
  if (id === '' && said === 'full') return { kind: 'refused', message: 'the queue is full' };
  const transfer = said === 'full' || said === undefined ? id : said.transferId;
  return { kind: 'emitted', transferId: transfer, instructionId };
}

function refusalOf(result: ApplyResult): EmitResult {
  if (result.kind === 'refused') return { kind: 'refused', message: result.refusal.message };
  if (result.kind === 'unavailable') return { kind: 'refused', message: result.message };
  return { kind: 'refused', message: result.kind };
}

function flowOfMove(move: Move): ReturnType<typeof flowOf> {
  const { from, to } = move;
  if (move.tier === 2) {
    const kind = `quota:${move.provider}/${move.region}` as const;
    return flowOf({ kind, instanceType: '', zone: '', from, to });
  }
  const { instanceType, zone } = move.selector;
  return flowOf({ kind: move.tier === 1 ? 'machines' : 'drain', instanceType, zone, from, to });
}

export interface DrainOrdersOptions {
  readonly term: bigint;
  readonly clock: Clock;
  readonly queue: Pick<SagaQueue, 'enqueue'>;
  readonly reservations: Reservations;
  readonly observer: Pick<CoordinatorObserver, 'onRebalanceMove'>;
}

/**
 * Cross-shard drains (tier 3): one instruction to the donor and no record in the ledger, because no
 * ownership moves. Machines that the donor drains are remembered as reserved for the recipient.
 */
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
