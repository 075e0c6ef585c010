// How fresh the prices are: a provider that stops hearing of them keeps publishing old ones.

import type { Clock } from '@bigfleet/base';
import type { MetricRegistry } from '@bigfleet/telemetry';

export interface PriceMetrics {
  refreshed(outcome: 'success' | 'error'): void;
}

export function createPriceMetrics(
  registry: MetricRegistry,
  prefix: string,
  clock: Clock,
): PriceMetrics {
  const refreshes = registry.counter({
    name: `${prefix}_price_refresh_total`,
    help: 'Refreshes of live prices.',
    labels: { outcome: ['success', 'error'] },
  });
  const lastSuccess = registry.gauge({
    name: `${prefix}_price_last_success_timestamp_seconds`,
    help: 'When prices were last refreshed.',
    initial: () => false,
  });
  return {
    refreshed: (outcome) => {
      refreshes.labels({ outcome }).inc();
      if (outcome === 'success') lastSuccess.set(Number(clock.unixNanos() / 1_000_000n) / 1_000);
    },
  };
}
