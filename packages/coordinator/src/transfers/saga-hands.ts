// Does what a saga decided: changes the ledger and puts instructions into the queue. A refusal of
// the ledger is an answer, not an error; what it could not write is tried again by the next round.
// Nothing is said to a shard before the ledger holds what makes it true.

import type { TransferAbort } from '@bigfleet/base';
import type { InstructionPayload, PendingInstruction } from '../instructions/instruction-queue.ts';
import type { ApplyResult } from '../ledger/ledger.ts';
import { cooldownMs, DEFAULT_REPORT_INTERVAL_MS, type Flow, flowOf } from '../moves/cooldowns.ts';
import type { TransferRow } from '../state/rows.ts';
import { alreadySaid, ownershipPayload, type OrderSubject, slicePayload } from './orders.ts';
import type { OwnershipOrder, SagaParts, SagaStep } from './saga-facts.ts';
import { isLater } from './transfer-id.ts';

export class SagaHands {
  readonly #parts: SagaParts;

  constructor(parts: SagaParts) {
    this.#parts = parts;
  }

  /** True when the record changed, so that its next step can be decided at once. */
  async perform(row: TransferRow, step: SagaStep): Promise<boolean> {
    const { id } = row;
    switch (step.do) {
      case 'tell':
        this.tell(step.shardId, row, step.order);
        return false;
      case 'tell-slice':
        this.tellSlice(row, step.shardId);
        return false;
      case 'commit':
        return this.#commit(row, step.machineIds);
      case 'recommit':
        return this.#recommit(row, step.machineIds);
      case 'abort':
        return this.#abort(row, step.reason);
      case 'finish':
        return this.#changed(row, await this.#parts.ledger.apply({ kind: 'FinishTransfer', id }));
      case 'grow':
        return this.#moveQuota(row, 'GROW');
      case 'give-back':
        return this.#moveQuota(row, 'RESTORE');
    }
  }

  tell(shardId: string, subject: OrderSubject, order: OwnershipOrder): PendingInstruction | 'full' {
    return this.#say(shardId, subject.id, ownershipPayload(subject, order));
  }

  tellSlice(row: TransferRow, shardId: string): PendingInstruction | 'full' | undefined {
    const payload = slicePayload(this.#parts.ledger.state, row, shardId);
    return payload && this.#say(shardId, row.id, payload);
  }

  /**
   * Evidence of a commit that the ledger has lost. False: a third shard holds a machine (coordinator
   * §10.5).
   */
  async rebuild(subject: OrderSubject & { providerAddress: string }): Promise<boolean> {
    const { id, from, to, machineIds, providerAddress } = subject;
    const transfer = { id, from, to, machineIds, providerAddress };
    const result = await this.#parts.ledger.apply({ kind: 'RestoreTransfer', transfer });
    if (result.kind === 'refused') {
      const { message } = result.refusal;
      this.#parts.observer.onOwnershipConflict();
      this.#parts.log.error('transfer evidence contradicts the ledger', { id, message });
    }
    return result.kind === 'applied';
  }

  async clear(machineIds: readonly string[], owner: string): Promise<void> {
    const result = await this.#parts.ledger.apply({ kind: 'ClearOverrides', machineIds, owner });
    this.#logRefusal('ClearOverrides', result);
  }

  async moveQuota(
    row: TransferRow,
    move: { provider: string; region: string; count: number },
    step: 'SHRINK' | 'GROW' | 'RESTORE',
  ): Promise<ApplyResult> {
    const { id, from, to } = row;
    return this.#parts.ledger.apply({ kind: 'MoveQuota', id, from, to, ...move, step });
  }

  async #commit(row: TransferRow, machineIds: readonly string[]): Promise<boolean> {
    const { ledger, settings, observer, log } = this.#parts;
    const { maxOverrides } = settings;
    const { id, from, to } = row;
    const result = await ledger.apply({ kind: 'CommitTransfer', id, machineIds, maxOverrides });
    if (result.kind === 'refused') {
      const isFull = result.refusal.code === 'override-limit';
      this.#logRefusal('CommitTransfer', result);
      return this.#abort(row, isFull ? 'override_limit' : 'donor_rejected');
    }
    const isUnknown = result.kind === 'unavailable' && result.outcome === 'unknown';
    // It may turn out to be committed without being told here again: its machines rest either way.
    if (isUnknown || result.kind === 'applied') rest(this.#parts, row, machineIds);
    if (result.kind !== 'applied') return false;
    observer.onRebalanceMove('1', 'committed');
    const fields = { transfer_id: id, from, to, machines: machineIds.length };
    log.info('rebalance: transfer committed', fields);
    return true;
  }

  async #recommit(row: TransferRow, machineIds: readonly string[]): Promise<boolean> {
    const { state } = this.#parts.ledger;
    const open = machineIds.filter((machineId) => {
      const held = state.override(machineId);
      return held === undefined || !isLater(held.transferId, row.id);
    });
    if (open.length > 0) return this.rebuild({ ...row, machineIds: open });
    // Every machine has moved on since: the record is history, and nobody may act on it.
    return row.phase === 'PREPARING' ? this.#abort(row, 'provider_recovering') : false;
  }

  async #abort(row: TransferRow, reason: TransferAbort): Promise<boolean> {
    const { ledger, observer, log } = this.#parts;
    const { id, from, to } = row;
    const result = await ledger.apply({ kind: 'AbortTransfer', id, reasonCode: reason });
    this.#logRefusal('AbortTransfer', result);
    if (result.kind !== 'applied') return false;
    this.#withdraw(row);
    coolFlow(this.#parts, flowOfRow(row), reason === 'donor_rejected' ? from : undefined);
    observer.onRebalanceMove(row.tier === 1 ? '1' : '2', 'aborted');
    log.warn('rebalance: transfer aborted', { transfer_id: id, from, to, reason });
    return true;
  }

  async #moveQuota(row: TransferRow, step: 'GROW' | 'RESTORE'): Promise<boolean> {
    if (row.quota === null) return false;
    const { provider, region, count } = row.quota;
    const result = await this.moveQuota(row, { provider, region, count }, step);
    // A sum that no longer fits (the declared quota was lowered meanwhile): give it back instead.
    if (result.kind === 'refused' && step === 'GROW') return this.#moveQuota(row, 'RESTORE');
    if (result.kind === 'applied' && step === 'GROW') {
      rest(this.#parts, row, []);
      this.#parts.observer.onRebalanceMove('2', 'committed');
    }
    return this.#changed(row, result);
  }

  /** A question that nobody wants answered any more; its late answer finds no record to advance. */
  #withdraw(row: TransferRow): void {
    const { queue } = this.#parts;
    for (const { instruction, transferId } of queue.pending(row.from)) {
      if (transferId === row.id) queue.withdraw(row.from, instruction.instructionId);
    }
  }

  #say(
    shardId: string,
    transferId: string,
    payload: InstructionPayload,
  ): PendingInstruction | 'full' {
    const { queue } = this.#parts;
    const said = alreadySaid(queue.pending(shardId), transferId, payload);
    return said ?? queue.enqueue(shardId, payload, transferId);
  }

  #changed(row: TransferRow, result: ApplyResult): boolean {
    this.#logRefusal(row.id, result);
    return result.kind === 'applied';
  }

  #logRefusal(what: string, result: ApplyResult): void {
    if (result.kind !== 'refused') return;
    this.#parts.log.error('the ledger refused a step of a transfer', {
      what,
      message: result.refusal.message,
    });
  }
}

/**
 * The quiet after a transfer: its flow and its machines do not move again for a while, whether it was
 * committed or given up, and a drain that it used up is settled.
 */
function rest(parts: SagaParts, row: TransferRow, machineIds: readonly string[]): void {
  const { runtime, cooldowns, reservations } = parts;
  const flow = flowOfRow(row);
  cooldowns.coolMachines(machineIds, runtime.clock.monotonicMs(), quietMs(parts, flow));
  reservations.settle(row.from, row.to);
  coolFlow(parts, flow);
}

/** `refusedBy`: a donor that was asked and had nothing. */
export function coolFlow(parts: SagaParts, flow: Flow, refusedBy?: string): void {
  const nowMs = parts.runtime.clock.monotonicMs();
  parts.cooldowns.coolFlow(flow, nowMs, quietMs(parts, flow), refusedBy);
}

/** By the slower of the two reporters: a flow is quiet until both have reported its effect. */
function quietMs({ soft, settings }: SagaParts, { shards }: Flow): number {
  const intervals = shards.map(
    (shardId) => soft.picture(shardId)?.intervalMs ?? DEFAULT_REPORT_INTERVAL_MS,
  );
  return cooldownMs(settings, Math.max(...intervals));
}

function flowOfRow(row: TransferRow): Flow {
  const { from, to, quota, selector } = row;
  const kind = quota === null ? 'machines' : (`quota:${quota.provider}/${quota.region}` as const);
  const instanceType = selector?.instanceType ?? '';
  return flowOf({ kind, instanceType, zone: selector?.zone ?? '', from, to });
}
