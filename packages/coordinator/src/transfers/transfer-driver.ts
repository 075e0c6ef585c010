// Drives every open transfer of one leadership to its end (coordinator §9.6): reacts to acks, to
// what shards report and to time. Reports and acks only leave a note and ring; one loop does the
// work, so that no two steps of a transfer run at once and a slow commit never holds a report. All
// it needs after an election is in the ledger and in the next reports.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { type InstructAck, type TransferStatus, InstructAck_Outcome } from '@bigfleet/wire';
import { appliedBy } from '../assignment/sharing.ts';
import type { AckListener, PendingInstruction } from '../instructions/instruction-queue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import type { Cooldowns } from '../moves/cooldowns.ts';
import type { Reservations } from '../moves/reservations.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { TransferRow } from '../state/rows.ts';
import {
  SagaMemory,
  answerOf,
  isGone,
  partyOf,
  type Witness,
  type SagaFacts,
  type SagaStep,
} from './saga-facts.ts';
import { DrainOrders } from './drain-orders.ts';
import { MoveEmitter } from './move-emitter.ts';
import {
  LostTransfers,
  type SagaRecovery,
  type LostFacts,
  type LostStep,
  decideLost,
} from './lost-transfers.ts';
import { collectableBefore, isRetired } from './retirement.ts';
import { SagaHands, type SagaQueue, SagaQuiet } from './saga-hands.ts';
import { isDrainId, isOfTerm } from './transfer-id.ts';
import { decideMachines } from './decide-machines.ts';
import { decideQuota } from './decide-quota.ts';

const TICK_MS = 1_000;
const COLLECT_MS = 60_000;
/** PREPARING, COMMITTED and DONE are three; a record never needs more rounds than states. */
const MAX_ROUNDS = 4;
const MAX_CLEARED_AT_ONCE = 100;
const NANOS_PER_MS = 1_000_000n;

export interface TransferDriverOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly ledger: Ledger;
  readonly soft: SoftState;
  readonly queue: SagaQueue;
  readonly cooldowns: Cooldowns;
  readonly reservations: Reservations;
  readonly recovery: SagaRecovery;
  readonly settings: RebalanceSettings;
  readonly observer: Pick<CoordinatorObserver, 'onRebalanceMove' | 'onOwnershipConflict'>;
  readonly log: Logger;
  /** The model check plants faults here. */
  readonly rules?: SagaRules;
}

export class TransferDriver implements AckListener {
  /** How the rebalancer gets its moves under way. */
  readonly emitter: MoveEmitter;
  readonly #options: TransferDriverOptions;
  readonly #rules: SagaRules;
  readonly #memory = new SagaMemory();
  readonly #bell = new Doorbell();
  readonly #dirty = new Set<string>();
  readonly #hands: SagaHands;
  readonly #lost: LostTransfers;
  readonly #drains: DrainOrders;
  #tickAtMs = 0;
  #collectAtMs = 0;

  constructor(options: TransferDriverOptions) {
    this.#options = options;
    this.#rules = options.rules ?? sagaRules;
    const { clock } = options.runtime;
    const quiet = new SagaQuiet({ ...options, clock });
    this.#hands = new SagaHands({ ...options, quiet });
    this.#lost = new LostTransfers({ ...options, hands: this.#hands, rules: this.#rules });
    const { term } = options.ledger;
    this.#drains = new DrainOrders({ ...options, clock, term });
    const parts = { hands: this.#hands, memory: this.#memory, drains: this.#drains, quiet, clock };
    this.emitter = new MoveEmitter({ ...options, ...parts });
  }

  onStatuses(shardId: string): void {
    this.#dirty.add(shardId);
    this.#bell.ring();
  }

  retiredOf(shardId: string, statuses: readonly TransferStatus[]): readonly string[] {
    const { state } = this.#options.ledger;
    const nowUnixMs = this.#nowUnixMs();
    const retired = statuses.filter((status) => {
      const row = state.transfer(status.transferId);
      if (row !== undefined) return isRetired(row, nowUnixMs);
      return this.#lost.decide(this.#witness(), shardId, status).do === 'retire';
    });
    return [...new Set(retired.map(({ transferId }) => transferId))];
  }

  onAck(pending: PendingInstruction, ack: InstructAck): void {
    if (isDrainId(pending.transferId)) return this.#drains.onAck(pending, ack);
    const row = this.#options.ledger.state.transfer(pending.transferId);
    if (row === undefined || row.phase !== 'PREPARING' || pending.shardId !== row.from) return;
    const answer = answerOf(pending, ack);
    if (answer === undefined) return;
    this.#memory.note(row.id, this.#options.runtime.clock.monotonicMs()).answer = answer;
    this.#options.observer.onRebalanceMove(row.tier === 1 ? '1' : '2', answer.kind);
    if (ack.outcome !== InstructAck_Outcome.ACCEPTED) this.#logRefusal(row, ack);
    this.#dirty.add(row.from);
    this.#bell.ring();
  }

  /** Until the signal or the leadership ends. Rejects only on a bug. */
  async run(signal: AbortSignal): Promise<void> {
    const end = AbortSignal.any([signal, this.#options.ledger.lost]);
    while (!end.aborted) {
      await this.drive();
      await this.#bell.wait(this.#options.runtime, TICK_MS, end);
    }
  }

  /** One round: what changed since the last one, and everything once per tick. */
  async drive(): Promise<void> {
    const { ledger, runtime } = this.#options;
    const nowMs = runtime.clock.monotonicMs();
    const heard = [...this.#dirty];
    this.#dirty.clear();
    const isTick = nowMs >= this.#tickAtMs;
    if (isTick) this.#tickAtMs = nowMs + TICK_MS;
    const open = ledger.state.openTransfers();
    if (isTick) this.#memory.keepOnly(new Set(open.map(({ id }) => id)));
    for (const { id, from, to } of open) {
      if (isTick || heard.includes(from) || heard.includes(to)) await this.#advance(id);
    }
    for (const shardId of heard) await this.#hear(shardId);
    if (nowMs >= this.#collectAtMs) await this.#collect(nowMs);
  }

  async #advance(id: string): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const { ledger } = this.#options;
      const row = ledger.state.transfer(id);
      if (row === undefined || ledger.lost.aborted || this.emitter.isBeginning(id)) return;
      let isMoved = false;
      for (const step of this.#rules.decide(this.#factsOf(row))) {
        isMoved ||= await this.#hands.perform(row, step);
      }
      if (!isMoved) return;
    }
  }

  #factsOf(row: TransferRow): SagaFacts {
    const { ledger, settings, recovery, cooldowns } = this.#options;
    const witness = this.#witness();
    const note = this.#memory.note(row.id, witness.nowMs);
    const { soft } = this.#options;
    const { assignmentRevision } = ledger.state.meta;
    if (row.phase === 'COMMITTED') note.shownFrom ??= assignmentRevision;
    const applied = appliedBy({ view: ledger.state, soft }, row.from);
    const donor = partyOf(witness, row.id, { shardId: row.from, uid: row.fromUid });
    return {
      row,
      donor,
      recipient: partyOf(witness, row.id, { shardId: row.to, uid: row.toUid }),
      answer: note.answer,
      ageMs: witness.nowMs - note.seenMs,
      isDoubtful: ledger.state.meta.ledgerGeneration > 0 && !isOfTerm(row.id, ledger.term),
      donorHolds: recovery.donorHolds(row.from, donor.machineIds),
      isRecovering: recovery.isRecovering(row.from) || recovery.isRecovering(row.to),
      liveIds: row.machineIds.filter((id) => ledger.state.override(id)?.transferId === row.id),
      donorFollows: note.shownFrom !== undefined && applied >= BigInt(note.shownFrom),
      minBenefit: settings.minBenefit,
      isMachineCooling: (machineId) => cooldowns.isMachineCooling(machineId, witness.nowMs),
    };
  }

  /** What a shard names beyond open transfers: finished, aborted and unknown ones. */
  async #hear(shardId: string): Promise<void> {
    const { soft, ledger } = this.#options;
    for (const status of soft.picture(shardId)?.report.transfers ?? []) {
      if (ledger.lost.aborted) return;
      const row = ledger.state.transfer(status.transferId);
      if (isGone(status)) await this.#clear(shardId, status, row);
      if (row === undefined) await this.#lost.hear(this.#witness(), shardId, status);
      else if (row.phase === 'DONE' || row.phase === 'ABORTED') await this.#advance(row.id);
    }
  }

  /** A machine that is no more; while its transfer is open the donor may still hold it frozen. */
  async #clear(
    shardId: string,
    status: TransferStatus,
    row: TransferRow | undefined,
  ): Promise<void> {
    if (row !== undefined && row.phase !== 'DONE') return;
    if (this.#options.recovery.isRecovering(shardId)) return;
    const { state } = this.#options.ledger;
    const machineIds = status.machineIds.filter((id) => {
      const held = state.override(id);
      return held?.owner === shardId && held.transferId === status.transferId;
    });
    for (let at = 0; at < machineIds.length; at += MAX_CLEARED_AT_ONCE) {
      await this.#hands.clear(machineIds.slice(at, at + MAX_CLEARED_AT_ONCE), shardId);
    }
  }

  async #collect(nowMs: number): Promise<void> {
    this.#collectAtMs = nowMs + COLLECT_MS;
    const { ledger, soft } = this.#options;
    const beforeMs = collectableBefore(ledger.state, soft, this.#nowUnixMs());
    if (beforeMs === undefined) return;
    const result = await ledger.apply({ kind: 'GcTransfers', beforeMs });
    // A batch went, there may be more.
    if (result.kind === 'applied') this.#collectAtMs = nowMs;
  }

  #logRefusal(row: TransferRow, ack: InstructAck): void {
    this.#options.log.warn('rebalance: donor refused', {
      transfer_id: row.id,
      from: row.from,
      reason_code: ack.reasonCode,
      reason: ack.reason,
    });
  }

  #witness(): Witness {
    const { soft, ledger, runtime } = this.#options;
    return {
      soft,
      state: ledger.state,
      term: ledger.term,
      nowMs: runtime.clock.monotonicMs(),
    };
  }

  #nowUnixMs(): number {
    return Number(this.#options.runtime.clock.unixNanos() / NANOS_PER_MS);
  }
}

/**
 * The decisions of a saga. The driver takes them as an argument: the model check runs the real driver
 * on rules with a planted fault and must notice each of them.
 */
export interface SagaRules {
  readonly decide: (facts: SagaFacts) => readonly SagaStep[];
  readonly decideLost: (facts: LostFacts) => LostStep;
}

export const sagaRules: SagaRules = {
  decide: (facts) => (facts.row.tier === 1 ? decideMachines(facts) : decideQuota(facts)),
  decideLost,
};

/**
 * Wakes one waiting loop early. A ring while the loop is busy is kept, so that the loop does not sleep
 * over it; several rings are one.
 */
export class Doorbell {
  #isRung = false;
  #wake: (() => void) | undefined;

  ring(): void {
    this.#isRung = true;
    this.#wake?.();
  }

  /** Resolves on a ring, after `ms`, or when the signal ends the wait; never rejects. */
  async wait(runtime: Pick<Runtime, 'timers'>, ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) await this.#sleep(runtime, ms, signal);
    this.#isRung = false;
  }

  #sleep(runtime: Pick<Runtime, 'timers'>, ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        timer.cancel();
        signal.removeEventListener('abort', wake);
        this.#wake = undefined;
        resolve();
      };
      const timer = runtime.timers.after(ms, wake);
      signal.addEventListener('abort', wake, { once: true });
      this.#wake = wake;
    });
  }
}
