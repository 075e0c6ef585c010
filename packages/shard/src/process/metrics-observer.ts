// Feeds the shard's series from what the core tells.

import type { Clock } from '@bigfleet/base';
import type { MetricRegistry } from '@bigfleet/telemetry';
import type { ShardObserver } from '../core/observer.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { DemandLedger } from '../ledgers/demand-ledger.ts';
import { summariseShortfalls } from '../ledgers/shortfalls.ts';
import type { ActionMetrics } from '../metrics/action-metrics.ts';
import type { CycleMetrics } from '../metrics/cycle-metrics.ts';
import { observeInventory } from '../metrics/inventory-metrics.ts';
import { createProviderMetrics } from '../metrics/provider-metrics.ts';
import { createShortfallMetrics } from '../metrics/shortfall-metrics.ts';
import type { ProviderSet } from '../provider/provider-set.ts';

export interface MetricsObserverOptions {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  readonly providers: ProviderSet;
  readonly isIncremental: boolean;
  readonly cycles: CycleMetrics;
  readonly actions: ActionMetrics;
  readonly demand: DemandLedger;
  readonly fleet: () => Fleet;
}

export function createMetricsObserver(options: MetricsObserverOptions): Partial<ShardObserver> {
  const { registry, cycles, actions } = options;
  const providerSeries = createProviderMetrics(options);
  observeInventory(options);
  const shortfalls = createShortfallMetrics(registry);
  return {
    onCycle: (report) => {
      cycles.cycled(report);
      actions.disposed(report.disposition);
      shortfalls(summariseShortfalls(report.answer.shortfalls));
      for (const [name, refresh] of report.refreshes) providerSeries.refreshed(name, refresh);
    },
    onRejectedRecord: (_, { reason }) => providerSeries.rejected(reason),
    onThrottled: (provider) => providerSeries.throttled(provider),
    onExecuted: ({ kind }, outcome) => actions.executed(kind, outcome),
    onWithheld: ({ kind }, by) => actions.withheld(kind, by),
  };
}
