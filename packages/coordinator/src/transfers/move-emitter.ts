// Gets a planned move under way: the ledger first, then the instruction. A command may have come between
// plan and move; the ledger's refusal is then the answer, and the next pass looks again.

import type { Clock } from '@bigfleet/base';
import type { ApplyResult, Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver, MoveTier } from '../metrics/observer.ts';
import { flowOf } from '../moves/cooldowns.ts';
import type { DrainMove, IdleMove, Move, QuotaMove } from '../moves/plan.ts';
import type { DrainOrders } from './drain-orders.ts';
import type { SagaMemory } from './saga-facts.ts';
import type { SagaHands, SagaQuiet } from './saga-hands.ts';
import { transferId } from './transfer-id.ts';

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
