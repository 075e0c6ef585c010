// What a provider asks of its vendor: calls of the API (how many, how they ended, how long they took)
// and how fresh the prices are.

import type { Clock } from '@bigfleet/base';
import { DEF_LONG, durationSeconds, type MetricRegistry } from '@bigfleet/telemetry';

export interface ApiMetrics {
  /** Runs the call and counts it. `operation` must be one of the declared ones. */
  measured<T>(operation: string, call: () => Promise<T>): Promise<T>;
}

export interface ApiMetricsOptions {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  /** With the name of the API: `bigfleet_hetzner_api`, `bigfleet_aws_ec2_api`. */
  readonly prefix: string;
  readonly operations: readonly string[];
}

const OUTCOMES = ['success', 'error'] as const;

export function createApiMetrics(options: ApiMetricsOptions): ApiMetrics {
  const { registry, clock, prefix, operations } = options;
  if (operations.length === 0) return { measured: (_operation, call) => call() };
  const calls = registry.counter({
    name: `${prefix}_calls_total`,
    help: 'Calls to the API of the substrate.',
    labels: { op: operations, outcome: OUTCOMES },
  });
  const durations = registry.histogram({
    name: `${prefix}_duration_seconds`,
    help: 'Duration of calls to the API of the substrate.',
    labels: { op: operations },
    bounds: DEF_LONG,
  });
  return {
    async measured(operation, call) {
      const startMs = clock.monotonicMs();
      let outcome: (typeof OUTCOMES)[number] = 'error';
      try {
        const result = await call();
        outcome = 'success';
        return result;
      } finally {
        calls.labels({ op: operation, outcome }).inc();
        const seconds = durationSeconds(startMs, clock.monotonicMs());
        durations.labels({ op: operation }).observe(seconds);
      }
    },
  };
}

/** How fresh the prices are: a provider that stops hearing of them keeps publishing old ones. */
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
