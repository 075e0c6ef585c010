// Does what a saga decided: changes the ledger and puts instructions into the queue. A refusal of
// the ledger is an answer, not an error; what it could not write is tried again by the next round.
// Nothing is said to a shard before the ledger holds what makes it true.

import type { TransferAbort, Clock } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type {
  InstructionPayload,
  InstructionQueue,
  PendingInstruction,
} from '../instructions/instruction-queue.ts';
import type { ApplyResult, Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { TransferRow } from '../state/rows.ts';
import { alreadySaid, ownershipPayload, type OrderSubject, slicePayload } from './orders.ts';
import type { OwnershipOrder, SagaStep } from './saga-facts.ts';
import { isLater } from './transfer-id.ts';
import {
  cooldownMs,
  type Cooldowns,
  DEFAULT_REPORT_INTERVAL_MS,
  type Flow,
  flowOf,
} from '../moves/cooldowns.ts';
import type { Reservations } from '../moves/reservations.ts';
import type { SoftState } from '../reports/soft-state.ts';

export type SagaQueue = Pick<InstructionQueue, 'enqueue' | 'pending' | 'withdraw'>;

export interface SagaHandsOptions {
  readonly ledger: Ledger;
  readonly queue: SagaQueue;
  readonly quiet: SagaQuiet;
  readonly settings: Pick<RebalanceSettings, 'maxOverrides'>;
  readonly observer: Pick<CoordinatorObserver, 'onRebalanceMove' | 'onOwnershipConflict'>;
  readonly log: Logger;
}

export class SagaHands {
  readonly #options: SagaHandsOptions;

  constructor(options: SagaHandsOptions) {
    this.#options = options;
  }

  /** True when the record changed, so that its next step can be decided at once. */
  async perform(row: TransferRow, step: SagaStep): Promise<boolean> {
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
        return this.#changed(row, await this.#apply({ kind: 'FinishTransfer', id: row.id }));
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
    const payload = slicePayload(this.#options.ledger.state, row, shardId);
    return payload && this.#say(shardId, row.id, payload);
  }

  /**
   * Evidence of a commit that the ledger has lost. False: a third shard holds a machine (coordinator
   * §10.5).
   */
  async rebuild(subject: OrderSubject & { providerAddress: string }): Promise<boolean> {
    const { id, from, to, machineIds, providerAddress } = subject;
    const transfer = { id, from, to, machineIds, providerAddress };
    const result = await this.#apply({ kind: 'RestoreTransfer', transfer });
    if (result.kind === 'refused') {
      const { message } = result.refusal;
      this.#options.observer.onOwnershipConflict();
      this.#options.log.error('transfer evidence contradicts the ledger', { id, message });
    }
    return result.kind === 'applied';
  }

  async clear(machineIds: readonly string[], owner: string): Promise<void> {
    const result = await this.#apply({ kind: 'ClearOverrides', machineIds, owner });
    this.#logRefusal('ClearOverrides', result);
  }

  async moveQuota(
    row: TransferRow,
    move: { provider: string; region: string; count: number },
    step: 'SHRINK' | 'GROW' | 'RESTORE',
  ): Promise<ApplyResult> {
    const { id, from, to } = row;
    return this.#apply({ kind: 'MoveQuota', id, from, to, ...move, step });
  }

  async #commit(row: TransferRow, machineIds: readonly string[]): Promise<boolean> {
    const { maxOverrides } = this.#options.settings;
    const { id } = row;
    const result = await this.#apply({ kind: 'CommitTransfer', id, machineIds, maxOverrides });
    if (result.kind === 'refused') {
      const isFull = result.refusal.code === 'override-limit';
      this.#logRefusal('CommitTransfer', result);
      return this.#abort(row, isFull ? 'override_limit' : 'donor_rejected');
    }
    const isUnknown = result.kind === 'unavailable' && result.outcome === 'unknown';
    // It may turn out to be committed without being told here again: its machines rest either way.
    if (isUnknown) this.#options.quiet.committed(row, machineIds);
    if (result.kind !== 'applied') return false;
    this.#options.quiet.committed(row, machineIds);
    this.#options.observer.onRebalanceMove('1', 'committed');
    this.#options.log.info('rebalance: transfer committed', {
      transfer_id: id,
      from: row.from,
      to: row.to,
      machines: machineIds.length,
    });
    return true;
  }

  async #recommit(row: TransferRow, machineIds: readonly string[]): Promise<boolean> {
    const { state } = this.#options.ledger;
    const open = machineIds.filter((machineId) => {
      const held = state.override(machineId);
      return held === undefined || !isLater(held.transferId, row.id);
    });
    if (open.length > 0) return this.rebuild({ ...row, machineIds: open });
    // Every machine has moved on since: the record is history, and nobody may act on it.
    return row.phase === 'PREPARING' ? this.#abort(row, 'provider_recovering') : false;
  }

  async #abort(row: TransferRow, reason: TransferAbort): Promise<boolean> {
    const { id } = row;
    const result = await this.#apply({ kind: 'AbortTransfer', id, reasonCode: reason });
    this.#logRefusal('AbortTransfer', result);
    if (result.kind !== 'applied') return false;
    this.#withdraw(row);
    this.#options.quiet.aborted(row, reason);
    this.#options.observer.onRebalanceMove(row.tier === 1 ? '1' : '2', 'aborted');
    this.#options.log.warn('rebalance: transfer aborted', {
      transfer_id: id,
      from: row.from,
      to: row.to,
      reason,
    });
    return true;
  }

  async #moveQuota(row: TransferRow, step: 'GROW' | 'RESTORE'): Promise<boolean> {
    if (row.quota === null) return false;
    const { provider, region, count } = row.quota;
    const result = await this.moveQuota(row, { provider, region, count }, step);
    // A sum that no longer fits (the declared quota was lowered meanwhile): give it back instead.
    if (result.kind === 'refused' && step === 'GROW') return this.#moveQuota(row, 'RESTORE');
    if (result.kind === 'applied' && step === 'GROW') {
      this.#options.quiet.committed(row, []);
      this.#options.observer.onRebalanceMove('2', 'committed');
    }
    return this.#changed(row, result);
  }

  /** A question that nobody wants answered any more; its late answer finds no record to advance. */
  #withdraw(row: TransferRow): void {
    const { queue } = this.#options;
    for (const { instruction, transferId } of queue.pending(row.from)) {
      if (transferId === row.id) queue.withdraw(row.from, instruction.instructionId);
    }
  }

  #say(
    shardId: string,
    transferId: string,
    payload: InstructionPayload,
  ): PendingInstruction | 'full' {
    const { queue } = this.#options;
    const said = alreadySaid(queue.pending(shardId), transferId, payload);
    return said ?? queue.enqueue(shardId, payload, transferId);
  }

  #changed(row: TransferRow, result: ApplyResult): boolean {
    this.#logRefusal(row.id, result);
    return result.kind === 'applied';
  }

  #logRefusal(what: string, result: ApplyResult): void {
    if (result.kind !== 'refused') return;
    this.#options.log.error('the ledger refused a step of a transfer', {
      what,
      message: result.refusal.message,
    });
  }

  #apply(body: Parameters<Ledger['apply']>[0]): Promise<ApplyResult> {
    return this.#options.ledger.apply(body);
  }
}

export interface SagaQuietOptions {
  readonly clock: Clock;
  readonly soft: SoftState;
  readonly cooldowns: Cooldowns;
  readonly reservations: Reservations;
  readonly settings: Pick<RebalanceSettings, 'cooldownCycles' | 'intervalMs'>;
}

/**
 * The quiet after a transfer: its flow and its machines do not move again for a while, whether it was
 * committed or given up, and a drain that it used up is settled.
 */
export class SagaQuiet {
  readonly #options: SagaQuietOptions;

  constructor(options: SagaQuietOptions) {
    this.#options = options;
  }

  committed(row: TransferRow, machineIds: readonly string[]): void {
    const { clock, cooldowns, reservations } = this.#options;
    const durationMs = this.#durationMs(row.from, row.to);
    cooldowns.coolMachines(machineIds, clock.monotonicMs(), durationMs);
    reservations.settle(row.from, row.to);
    this.cool(flowOfRow(row));
  }

  aborted(row: TransferRow, reason: TransferAbort): void {
    this.cool(flowOfRow(row), reason === 'donor_rejected' ? row.from : undefined);
  }

  /** `refusedBy`: a donor that was asked and had nothing. */
  cool(flow: Flow, refusedBy?: string): void {
    const { clock, cooldowns } = this.#options;
    const [a, b] = flow.shards;
    cooldowns.coolFlow(flow, clock.monotonicMs(), this.#durationMs(a, b), refusedBy);
  }

  /** By the slower of the two reporters: a flow is quiet until both have reported its effect. */
  #durationMs(a: string, b: string): number {
    const { soft, settings } = this.#options;
    const intervals = [a, b].map(
      (shardId) => soft.picture(shardId)?.intervalMs ?? DEFAULT_REPORT_INTERVAL_MS,
    );
    return cooldownMs(settings, Math.max(...intervals));
  }
}

function flowOfRow(row: TransferRow): Flow {
  const { from, to, quota, selector } = row;
  const kind = quota === null ? 'machines' : (`quota:${quota.provider}/${quota.region}` as const);
  const instanceType = selector?.instanceType ?? '';
  return flowOf({ kind, instanceType, zone: selector?.zone ?? '', from, to });
}
