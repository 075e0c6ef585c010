// What a transfer leaves behind: quiet. The flow and the machines do not move again for a while,
// whether it was committed or given up, and a drain that it used up is settled.

import type { Clock, TransferAbort } from '@bigfleet/base';
import {
  cooldownMs,
  type Cooldowns,
  DEFAULT_REPORT_INTERVAL_MS,
  type Flow,
  flowOf,
} from '../moves/cooldowns.ts';
import type { Reservations } from '../moves/reservations.ts';
import type { RebalanceSettings } from '../moves/settings.ts';
import type { SoftState } from '../reports/soft-state.ts';
import type { TransferRow } from '../state/rows.ts';

export interface SagaQuietOptions {
  readonly clock: Clock;
  readonly soft: SoftState;
  readonly cooldowns: Cooldowns;
  readonly reservations: Reservations;
  readonly settings: Pick<RebalanceSettings, 'cooldownCycles' | 'intervalMs'>;
}

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

  /** By the slower of the two: a flow is quiet until both have told what came of it. */
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
