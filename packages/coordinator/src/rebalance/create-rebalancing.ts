// The sagas and the rebalancer of one leadership, put together: wiring only. The caller gives the
// sagas to report handling as the listener of statuses and acks, and runs both loops for as long as
// the leadership lasts.

import type { Runtime } from '@bigfleet/base';
import type { Logger } from '@bigfleet/telemetry';
import type { InstructionQueue } from '../instructions/instruction-queue.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { CoordinatorObserver } from '../metrics/observer.ts';
import { Cooldowns } from '../moves/cooldowns.ts';
import { Reservations } from '../moves/reservations.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { SagaRecovery } from '../transfers/lost-transfers.ts';
import { type SagaRules, TransferDriver } from '../transfers/transfer-driver.ts';
import { Rebalancer } from './rebalancer.ts';

export interface RebalancingOptions {
  readonly runtime: Pick<Runtime, 'clock' | 'timers'>;
  readonly ledger: Ledger;
  readonly soft: SoftState;
  readonly queue: InstructionQueue;
  readonly recovery: SagaRecovery;
  readonly settings: RebalanceSettings;
  readonly observer: Pick<
    CoordinatorObserver,
    'onRebalancePass' | 'onRebalanceMove' | 'onOwnershipConflict'
  >;
  readonly log: Logger;
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

export function createRebalancing(options: RebalancingOptions): Rebalancing {
  const shared = {
    ...options,
    cooldowns: options.cooldowns ?? new Cooldowns(),
    reservations: new Reservations(),
  };
  const sagas = new TransferDriver(shared);
  const rebalancer = new Rebalancer({ ...shared, emitter: sagas.emitter });
  return {
    sagas,
    rebalancer,
    run: async (signal) => {
      await Promise.all([sagas.run(signal), rebalancer.run(signal)]);
    },
  };
}
