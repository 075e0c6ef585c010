// The loop of the rebalancer: one global pass per interval, on the leader only. It never reacts to
// a single report: one shard's report shows no donor, and racing reports would amplify oscillation.
// Before its first pass it waits until every shard can have spoken to this leader, and before each
// emission it looks again whether it leads. An interval of zero means that it does not run at all.

import { sleep } from '@bigfleet/base';
import { MAX_PENDING_PER_SHARD } from '../instructions/instruction-queue.ts';
import { Cooldowns, DEFAULT_REPORT_INTERVAL_MS } from '../moves/cooldowns.ts';
import type { Plan } from '../moves/plan.ts';
import { Reservations } from '../moves/reservations.ts';
import type { MoveEmitter } from '../transfers/move-emitter.ts';
import type { SagaParts } from '../transfers/saga-facts.ts';
import { type SagaRules, TransferDriver } from '../transfers/transfer-driver.ts';
import { logEmitted, logPlan } from './pass-log.ts';
import { planPass } from './plan-pass.ts';

const MIN_FIRST_PASS_MS = 30_000;
const FIRST_PASS_REPORTS = 3;

export class Rebalancer {
  readonly #parts: SagaParts;
  readonly #emitter: MoveEmitter;
  readonly #wonAtMs: number;
  /** The latest pass, for whoever asks why something moved or did not. */
  lastPlan: Plan | undefined;

  /** Made when the leadership is won: the wait for the first pass counts from here. */
  constructor(parts: SagaParts, emitter: MoveEmitter) {
    this.#parts = parts;
    this.#emitter = emitter;
    this.#wonAtMs = parts.runtime.clock.monotonicMs();
  }

  /** Until the signal or the leadership ends. Rejects only on a bug. */
  async run(signal: AbortSignal): Promise<void> {
    const { ledger, settings, log } = this.#parts;
    if (settings.intervalMs <= 0) {
      log.info('rebalancer disabled', { interval: '0s' });
      return;
    }
    const end = AbortSignal.any([signal, ledger.lost]);
    const interval = `${settings.intervalMs / 1000}s`;
    log.info('rebalancer started', { interval });
    if (await this.#pause(this.#firstPassInMs(), end)) {
      do await this.pass();
      while (await this.#pause(settings.intervalMs, end));
    }
    log.info('rebalancer stopped', { interval });
  }

  /** One pass, now. Returns its plan also when a dry run emits nothing of it. */
  async pass(): Promise<Plan> {
    const { settings, observer, log } = this.#parts;
    const plan = this.#plan();
    this.lastPlan = plan;
    observer.onRebalancePass();
    logPlan(log, plan, settings);
    if (!settings.isDryRun) await this.#emit(plan);
    return plan;
  }

  #plan(): Plan {
    const { runtime, soft, ledger, queue, recovery } = this.#parts;
    return planPass({
      ...this.#parts,
      nowMs: runtime.clock.monotonicMs(),
      pictures: soft.pictures(),
      state: ledger.state,
      exhaustedBefore: this.lastPlan?.exhausted ?? new Set(),
      isRecovering: (shardId) => recovery.isRecovering(shardId),
      hasQueueRoom: (shardId) => queue.count(shardId) < MAX_PENDING_PER_SHARD,
    });
  }

  async #emit(plan: Plan): Promise<void> {
    const { ledger, log } = this.#parts;
    for (const move of plan.moves) {
      if ((await ledger.confirm()) !== 'leading') return;
      const result = await this.#emitter.emit(move);
      logEmitted(log, move, result);
    }
  }

  /** Every shard must have had the time to report to this leader. */
  #firstPassInMs(): number {
    const { soft, runtime } = this.#parts;
    const intervals = soft.pictures().map(({ intervalMs }) => intervalMs ?? 0);
    const reportMs = Math.max(DEFAULT_REPORT_INTERVAL_MS, ...intervals);
    const dueMs = this.#wonAtMs + Math.max(MIN_FIRST_PASS_MS, FIRST_PASS_REPORTS * reportMs);
    return Math.max(0, dueMs - runtime.clock.monotonicMs());
  }

  /** False when the wait was ended. */
  async #pause(ms: number, end: AbortSignal): Promise<boolean> {
    await sleep(this.#parts.runtime, ms, end).catch(() => undefined);
    return !end.aborted;
  }
}

export interface RebalancingOptions extends Omit<SagaParts, 'cooldowns' | 'reservations'> {
  /** Other than the real ones only where a fault is planted. */
  readonly rules?: SagaRules;
  readonly cooldowns?: Cooldowns;
}

export interface Rebalancing {
  readonly sagas: TransferDriver;
  readonly rebalancer: Rebalancer;
  /** Both loops, until the signal or the leadership ends. Rejects only on a bug. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * The sagas and the rebalancer of one leadership. The caller gives the sagas to report handling as the
 * listener of statuses and acks.
 */
export function createRebalancing({ rules, ...options }: RebalancingOptions): Rebalancing {
  const parts = { cooldowns: new Cooldowns(), reservations: new Reservations(), ...options };
  const sagas = new TransferDriver(parts, rules);
  const rebalancer = new Rebalancer(parts, sagas.emitter);
  return {
    sagas,
    rebalancer,
    run: async (signal) => {
      await Promise.all([sagas.run(signal), rebalancer.run(signal)]);
    },
  };
}
