// Gets a planned move under way: the ledger first, then the instruction. A command may have come between
// plan and move; the ledger's refusal is then the answer, and the next pass looks again.

import type { ApplyResult } from '../ledger/ledger.ts';
import type { MoveTier } from '../metrics/observer.ts';
import { flowOfMove } from '../moves/cooldowns.ts';
import type { IdleMove, Move, QuotaMove } from '../moves/plan.ts';
import type { TransferRow } from '../state/rows.ts';
import { emitDrain } from './drain-orders.ts';
import type { SagaMemory, SagaParts } from './saga-facts.ts';
import { coolFlow, type SagaHands } from './saga-hands.ts';
import { drainId, transferId } from './transfer-id.ts';

export type EmitResult =
  | { readonly kind: 'emitted'; readonly transferId: string; readonly instructionId: string }
  | { readonly kind: 'refused'; readonly message: string };

const TIERS: Readonly<Record<Move['tier'], MoveTier>> = { 1: '1', 2: '2', 3: '3' };

export class MoveEmitter {
  readonly #parts: SagaParts;
  readonly #hands: SagaHands;
  readonly #memory: SagaMemory;
  readonly #beginning = new Set<string>();
  #count = 0;
  #drainCount = 0;

  constructor(parts: SagaParts, hands: SagaHands, memory: SagaMemory) {
    this.#parts = parts;
    this.#hands = hands;
    this.#memory = memory;
  }

  /** Its record exists and its first steps are still being made: nobody else may advance it. */
  isBeginning(id: string): boolean {
    return this.#beginning.has(id);
  }

  async emit(move: Move): Promise<EmitResult> {
    const result = await this.#emitTier(move);
    if (result.kind === 'emitted') {
      coolFlow(this.#parts, flowOfMove(move));
      this.#parts.observer.onRebalanceMove(TIERS[move.tier], 'emitted');
    }
    return result;
  }

  #emitTier(move: Move): Promise<EmitResult> {
    switch (move.tier) {
      case 1:
        return this.#begin(move, (row) =>
          emitted(row.id, this.#hands.tell(row.from, row, 'PREPARE')),
        );
      case 2:
        return this.#begin(move, (row) => this.#shrink(row, move));
      case 3: {
        const id = drainId(this.#parts.ledger.term, ++this.#drainCount);
        const said = emitDrain(this.#parts, move, id);
        return Promise.resolve(said === 'full' ? refused('the queue is full') : emitted(id, said));
      }
    }
  }

  async #begin(
    move: IdleMove | QuotaMove,
    first: (row: TransferRow) => Promise<EmitResult> | EmitResult,
  ): Promise<EmitResult> {
    const { ledger, runtime } = this.#parts;
    const id = transferId(ledger.term, ++this.#count);
    this.#beginning.add(id);
    this.#memory.note(id, runtime.clock.monotonicMs());
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
      if (result.kind !== 'applied') return refusalOf(result);
      const row = ledger.state.transfer(id);
      return row === undefined ? refused('the record is gone') : await first(row);
    } finally {
      this.#beginning.delete(id);
    }
  }

  async #shrink(begun: TransferRow, move: QuotaMove): Promise<EmitResult> {
    const result = await this.#hands.moveQuota(begun, move, 'SHRINK');
    const row = this.#parts.ledger.state.transfer(begun.id);
    // The loop aborts a record whose quota did not shrink.
    if (result.kind !== 'applied' || row === undefined) return refusalOf(result);
    return emitted(row.id, this.#hands.tellSlice(row, row.from));
  }
}

/** An instruction that found the queue full is said again by the loop: only its id is not known yet. */
function emitted(transferId: string, said: ReturnType<SagaHands['tellSlice']>): EmitResult {
  const instructionId = said === 'full' || said === undefined ? '' : said.instruction.instructionId;
  return { kind: 'emitted', transferId, instructionId };
}

function refused(message: string): EmitResult {
  return { kind: 'refused', message };
}

function refusalOf(result: ApplyResult): EmitResult {
  if (result.kind === 'refused') return refused(result.refusal.message);
  return refused(result.kind === 'unavailable' ? result.message : result.kind);
}
