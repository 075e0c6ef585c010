// One leadership of the real coordinator: ledger over the engine in memory, report handling,
// recovery, sagas and rebalancer, as in the process, without its network. The world calls the rounds
// of the sagas and the passes itself, so that a seed decides when they happen.

import type { Runtime } from '@bigfleet/base';
import {
  type ApplyQueue,
  type Cooldowns,
  type CoordinatorObserver,
  createRebalancing,
  createReportDesk,
  DEFAULT_REBALANCE_SETTINGS,
  openLedger,
  type Rebalancing,
  type RebalanceSettings,
  type ReportDesk,
  type SagaRules,
  type Leadership,
} from '@bigfleet/coordinator';
import type { MemoryStore } from '@bigfleet/coordinator/testing';
import type { Logger } from '@bigfleet/telemetry';
import type { ReportAck, ShardReport } from '@bigfleet/wire';

/** Of the seeds: passes as frequent as reports, recovery as short as three of them. */
export const SEED_SETTINGS: RebalanceSettings = {
  ...DEFAULT_REBALANCE_SETTINGS,
  intervalMs: 10_000,
};

export interface LeaderOptions {
  readonly name: string;
  readonly runtime: Runtime;
  readonly store: MemoryStore;
  readonly leadership: Leadership;
  readonly log: Logger;
  readonly observer: CoordinatorObserver;
  readonly rules: SagaRules;
  readonly cooldowns: Cooldowns;
  readonly settings: RebalanceSettings;
}

export class Leader {
  readonly name: string;
  readonly store: MemoryStore;
  readonly ledger: ApplyQueue;
  readonly desk: ReportDesk;
  readonly rebalancing: Rebalancing;
  #isDriving = false;
  #isPassing = false;

  static async open(options: LeaderOptions): Promise<Leader> {
    const { runtime, store, leadership, log } = options;
    return new Leader(options, await openLedger({ runtime, store, leadership, log }));
  }

  private constructor(options: LeaderOptions, ledger: ApplyQueue) {
    const { runtime, log, observer, rules, cooldowns, store, settings } = options;
    this.name = options.name;
    this.store = store;
    this.ledger = ledger;
    let made: Rebalancing | undefined;
    this.desk = createReportDesk({
      ledger,
      runtime,
      log,
      observer,
      minRecoveryMs: 12_000,
      raiseAbove: () => store.disk.depose(),
      sagas: (parts) => {
        made = createRebalancing({
          ...parts,
          runtime,
          ledger,
          log,
          observer,
          settings,
          rules,
          cooldowns,
        });
        return made.sagas;
      },
    });
    if (made === undefined) throw new Error('the desk makes its sagas');
    this.rebalancing = made;
  }

  get isLost(): boolean {
    return this.ledger.lost.aborted;
  }

  /** Undefined: refused, as by a replica that does not lead. */
  async handle(report: ShardReport): Promise<ReportAck | undefined> {
    const outcome = await this.desk.handler.handle(report);
    return outcome.kind === 'ack' ? outcome.ack : undefined;
  }

  async drive(): Promise<void> {
    if (this.#isDriving || this.isLost) return;
    this.#isDriving = true;
    await this.rebalancing.sagas.drive();
    this.#isDriving = false;
  }

  async pass(): Promise<void> {
    if (this.#isPassing || this.isLost) return;
    this.#isPassing = true;
    await this.rebalancing.rebalancer.pass();
    this.#isPassing = false;
  }
}
