// Drives every open transfer of one leadership to its end (coordinator §9.6): reacts to acks, to
// what shards report and to time. Reports and acks only leave a note and ring; one loop does the
// work, so that no two steps of a transfer run at once and a slow commit never holds a report. All
// it needs after an election is in the ledger and in the next reports.

import { type Runtime, sleep } from '@bigfleet/base';
import { type InstructAck, type TransferStatus, InstructAck_Outcome } from '@bigfleet/wire';
import { appliedBy } from '../assignment/sharing.ts';
import type { PendingInstruction } from '../instructions/instruction-queue.ts';
import { MAX_CLEARED_AT_ONCE } from '../state/decide/transfers.ts';
import type { TransferRow } from '../state/rows.ts';
import { decideMachines } from './decide-machines.ts';
import { decideQuota } from './decide-quota.ts';
import { onDrainAck } from './drain-orders.ts';
import {
  decideLost,
  hearLost,
  type LostFacts,
  lostFacts,
  type LostStep,
} from './lost-transfers.ts';
import { MoveEmitter } from './move-emitter.ts';
import { collectableBefore, isRetired } from './retirement.ts';
import {
  answerOf,
  isGone,
  partyOf,
  type SagaFacts,
  SagaMemory,
  type SagaParts,
  type SagaStep,
} from './saga-facts.ts';
import { SagaHands } from './saga-hands.ts';
import { isDrainId, isOfTerm } from './transfer-id.ts';

const TICK_MS = 1_000;
const COLLECT_MS = 60_000;
/** PREPARING, COMMITTED and DONE are three; a record never needs more rounds than states. */
const MAX_ROUNDS = 4;
const NANOS_PER_MS = 1_000_000n;

export class TransferDriver {
  /** How the rebalancer gets its moves under way. */
  readonly emitter: MoveEmitter;
  readonly #parts: SagaParts;
  readonly #rules: SagaRules;
  readonly #memory = new SagaMemory();
  readonly #bell = new Doorbell();
  readonly #dirty = new Set<string>();
  readonly #hands: SagaHands;
  #tickAtMs = 0;
  #collectAtMs = 0;

  constructor(parts: SagaParts, rules: SagaRules = sagaRules) {
    this.#parts = parts;
    this.#rules = rules;
    this.#hands = new SagaHands(parts);
    this.emitter = new MoveEmitter(parts, this.#hands, this.#memory);
  }

  onStatuses(shardId: string): void {
    this.#dirty.add(shardId);
    this.#bell.ring();
  }

  retiredOf(shardId: string, statuses: readonly TransferStatus[]): readonly string[] {
    const { state } = this.#parts.ledger;
    const nowUnixMs = this.#nowUnixMs();
    const retired = statuses.filter((status) => {
      const row = state.transfer(status.transferId);
      if (row !== undefined) return isRetired(row, nowUnixMs);
      return this.#decideLost(shardId, status).do === 'retire';
    });
    return [...new Set(retired.map(({ transferId }) => transferId))];
  }

  onAck(pending: PendingInstruction, ack: InstructAck): void {
    if (isDrainId(pending.transferId)) return onDrainAck(this.#parts, pending, ack);
    const row = this.#parts.ledger.state.transfer(pending.transferId);
    if (row === undefined || row.phase !== 'PREPARING' || pending.shardId !== row.from) return;
    const answer = answerOf(pending, ack);
    if (answer === undefined) return;
    this.#memory.note(row.id, this.#parts.runtime.clock.monotonicMs()).answer = answer;
    this.#parts.observer.onRebalanceMove(row.tier === 1 ? '1' : '2', answer.kind);
    if (ack.outcome !== InstructAck_Outcome.ACCEPTED) this.#logRefusal(row, ack);
    this.#dirty.add(row.from);
    this.#bell.ring();
  }

  /** Until the signal or the leadership ends. Rejects only on a bug. */
  async run(signal: AbortSignal): Promise<void> {
    const end = AbortSignal.any([signal, this.#parts.ledger.lost]);
    while (!end.aborted) {
      await this.drive();
      await this.#bell.wait(this.#parts.runtime, TICK_MS, end);
    }
  }

  /** One round: what changed since the last one, and everything once per tick. */
  async drive(): Promise<void> {
    const { ledger, runtime } = this.#parts;
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
      const { ledger } = this.#parts;
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
    const { ledger, settings, recovery, cooldowns, runtime, soft } = this.#parts;
    const nowMs = runtime.clock.monotonicMs();
    const note = this.#memory.note(row.id, nowMs);
    const { assignmentRevision, ledgerGeneration } = ledger.state.meta;
    if (row.phase === 'COMMITTED') note.shownFrom ??= assignmentRevision;
    const applied = appliedBy({ view: ledger.state, soft }, row.from);
    const donor = partyOf(this.#parts, row.id, { shardId: row.from, uid: row.fromUid });
    return {
      row,
      donor,
      recipient: partyOf(this.#parts, row.id, { shardId: row.to, uid: row.toUid }),
      answer: note.answer,
      ageMs: nowMs - note.seenMs,
      isDoubtful: ledgerGeneration > 0 && !isOfTerm(row.id, ledger.term),
      donorHolds: recovery.donorHolds(row.from, donor.machineIds),
      isRecovering: recovery.isRecovering(row.from) || recovery.isRecovering(row.to),
      liveIds: row.machineIds.filter((id) => ledger.state.override(id)?.transferId === row.id),
      donorFollows: note.shownFrom !== undefined && applied >= BigInt(note.shownFrom),
      minBenefit: settings.minBenefit,
      isMachineCooling: (machineId) => cooldowns.isMachineCooling(machineId, nowMs),
    };
  }

  #decideLost(shardId: string, status: TransferStatus): LostStep {
    return this.#rules.decideLost(lostFacts(this.#parts, shardId, status));
  }

  /** What a shard names beyond open transfers: finished, aborted and unknown ones. */
  async #hear(shardId: string): Promise<void> {
    const { soft, ledger } = this.#parts;
    for (const status of soft.picture(shardId)?.report.transfers ?? []) {
      if (ledger.lost.aborted) return;
      const row = ledger.state.transfer(status.transferId);
      if (isGone(status)) await this.#clear(shardId, status, row);
      if (row === undefined) {
        const step = this.#decideLost(shardId, status);
        await hearLost(this.#parts, this.#hands, shardId, status, step);
      } else if (row.phase === 'DONE' || row.phase === 'ABORTED') await this.#advance(row.id);
    }
  }

  /** A machine that is no more; while its transfer is open the donor may still hold it frozen. */
  async #clear(
    shardId: string,
    status: TransferStatus,
    row: TransferRow | undefined,
  ): Promise<void> {
    if (row !== undefined && row.phase !== 'DONE') return;
    if (this.#parts.recovery.isRecovering(shardId)) return;
    const { state } = this.#parts.ledger;
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
    const { ledger, soft } = this.#parts;
    const beforeMs = collectableBefore(ledger.state, soft, this.#nowUnixMs());
    if (beforeMs === undefined) return;
    const result = await ledger.apply({ kind: 'GcTransfers', beforeMs });
    // A batch went, there may be more.
    if (result.kind === 'applied') this.#collectAtMs = nowMs;
  }

  #logRefusal(row: TransferRow, ack: InstructAck): void {
    this.#parts.log.warn('rebalance: donor refused', {
      transfer_id: row.id,
      from: row.from,
      reason_code: ack.reasonCode,
      reason: ack.reason,
    });
  }

  #nowUnixMs(): number {
    return Number(this.#parts.runtime.clock.unixNanos() / NANOS_PER_MS);
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
  #rung = Promise.withResolvers<void>();

  ring(): void {
    this.#rung.resolve();
  }

  /** Resolves on a ring, after `ms`, or when the signal ends the wait; never rejects. */
  async wait(runtime: Pick<Runtime, 'timers'>, ms: number, signal: AbortSignal): Promise<void> {
    const waking = new AbortController();
    const end = AbortSignal.any([signal, waking.signal]);
    await Promise.race([this.#rung.promise, sleep(runtime, ms, end).catch(() => undefined)]);
    waking.abort();
    this.#rung = Promise.withResolvers<void>();
  }
}
