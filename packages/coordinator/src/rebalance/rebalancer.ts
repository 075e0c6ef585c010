// The loop of the rebalancer: one global pass per interval, on the leader only. It never reacts to
// a single report: one shard's report shows no donor, and racing reports would amplify oscillation.
// Before its first pass it waits until every shard can have spoken to this leader, and before each
// emission it looks again whether it leads. An interval of zero means that it does not run at all.

import { type Runtime, sleep } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import { type InstructionSink, MAX_PENDING_PER_SHARD } from '../instructions/instruction-queue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import { type Cooldowns, DEFAULT_REPORT_INTERVAL_MS } from '../moves/cooldowns.ts';
import type { Plan } from '../moves/plan.ts';
import type { Reservations } from '../moves/reservations.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { MoveEmitter } from '../transfers/move-emitter.ts';
import { logEmitted, logPlan } from './pass-log.ts';
import { planPass } from './plan-pass.ts';

const MIN_FIRST_PASS_MS = 30_000;
const FIRST_PASS_REPORTS = 3;

export interface RebalancerOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly ledger: Ledger;
  readonly soft: SoftState;
  readonly queue: Pick<InstructionSink, 'pending'>;
  readonly emitter: Pick<MoveEmitter, 'emit'>;
  readonly cooldowns: Cooldowns;
  readonly reservations: Reservations;
  readonly recovery: { isRecovering(shardId: string): boolean };
  readonly settings: RebalanceSettings;
  readonly observer: Pick<CoordinatorObserver, 'onRebalancePass'>;
  readonly log: Logger;
}

export class Rebalancer {
  readonly #options: RebalancerOptions;
  readonly #wonAtMs: number;
  #exhausted: ReadonlySet<string> = new Set();
  #lastPlan: Plan | undefined;

  /** Made when the leadership is won: the wait for the first pass counts from here. */
  constructor(options: RebalancerOptions) {
    this.#options = options;
    this.#wonAtMs = options.runtime.clock.monotonicMs();
  }

  /** The latest pass, for whoever asks why something moved or did not. */
  get lastPlan(): Plan | undefined {
    return this.#lastPlan;
  }

  /** Until the signal or the leadership ends. Rejects only on a bug. */
  async run(signal: AbortSignal): Promise<void> {
    const { ledger, settings, log } = this.#options;
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
    const { settings, observer, log } = this.#options;
    const plan = this.#plan();
    this.#lastPlan = plan;
    this.#exhausted = plan.exhausted;
    observer.onRebalancePass();
    logPlan(log, plan, settings);
    if (!settings.isDryRun) await this.#emit(plan);
    return plan;
  }

  #plan(): Plan {
    const { runtime, soft, ledger, queue, recovery } = this.#options;
    return planPass({
      ...this.#options,
      nowMs: runtime.clock.monotonicMs(),
      pictures: soft.pictures(),
      state: ledger.state,
      exhaustedBefore: this.#exhausted,
      isRecovering: (shardId) => recovery.isRecovering(shardId),
      hasQueueRoom: (shardId) => queue.pending(shardId).length < MAX_PENDING_PER_SHARD,
    });
  }

  async #emit(plan: Plan): Promise<void> {
    const { ledger, emitter, log } = this.#options;
    for (const move of plan.moves) {
      if ((await ledger.confirm()) !== 'leading') return;
      const result = await emitter.emit(move);
      logEmitted(log, move, result);
    }
  }

  /** Every shard must have had the time to report to this leader. */
  #firstPassInMs(): number {
    const { soft, runtime } = this.#options;
    const intervals = soft.pictures().map(({ intervalMs }) => intervalMs ?? 0);
    const reportMs = Math.max(DEFAULT_REPORT_INTERVAL_MS, ...intervals);
    const dueMs = this.#wonAtMs + Math.max(MIN_FIRST_PASS_MS, FIRST_PASS_REPORTS * reportMs);
    return Math.max(0, dueMs - runtime.clock.monotonicMs());
  }

  /** False when the wait was ended. */
  async #pause(ms: number, end: AbortSignal): Promise<boolean> {
    try {
      await sleep(this.#options.runtime, ms, end);
      return true;
    } catch (error) {
      if (end.aborted) return false;
      throw error;
    }
  }
}
