// Providers as this shard sees them (observability §3.5, §3.8).

import { type Clock, machineRefusals, type MachineRefusal } from '@bigfleet/base';
import type { MetricRegistry } from '@bigfleet/telemetry';
import { MAX_PROVIDERS, type ProviderSet } from '../provider/provider-set.ts';
import type { RoundOutcome } from '../provider/provider-rounds.ts';

const REFUSALS = Object.keys(machineRefusals) as MachineRefusal[];

export interface ProviderMetricsOptions {
  readonly registry: MetricRegistry;
  readonly clock: Clock;
  readonly providers: ProviderSet;
  readonly isIncremental: boolean;
}

export interface ProviderMetrics {
  refreshed(provider: string, outcome: RoundOutcome): void;
  rejected(reason: MachineRefusal): void;
  throttled(provider: string): void;
}

export function createProviderMetrics(options: ProviderMetricsOptions): ProviderMetrics {
  const { registry, clock, providers, isIncremental } = options;
  const labels = { provider: { max: MAX_PROVIDERS } };
  const total = registry.counter({
    name: 'bigfleet_shard_reconcile_total',
    help: 'Lists of a provider, taken in full or since a cursor.',
    labels: { ...labels, mode: ['full', 'incremental'], outcome: ['success', 'error'] },
  });
  const lastSuccess = registry.gauge({
    name: 'bigfleet_shard_reconcile_last_success_timestamp_seconds',
    help: 'When a List of the provider was last taken in; 0 when none was yet.',
    labels,
  });
  const held = registry.gauge({
    name: 'bigfleet_shard_reconcile_held_removals',
    help: 'Machines whose removal waits for agreeing Lists.',
    labels,
  });
  const rejected = registry.counter({
    name: 'bigfleet_shard_machines_rejected_total',
    help: 'Provider records refused at ingest; what was known before stays.',
    labels: { reason: REFUSALS },
  });
  const throttled = registry.counter({
    name: 'bigfleet_shard_provider_throttled_total',
    help: 'Calls that the provider answered with RESOURCE_EXHAUSTED; their actions are put off.',
    labels,
  });
  const dialled = registry.gauge({
    name: 'bigfleet_shard_providers',
    help: 'Providers in use; 0 when none is configured.',
  });
  /** Unix seconds; 0 of who never answered, or an alert about a stale one has nothing to see. */
  const successes = new Map<string, number>();
  registry.onCollect(() => {
    dialled.set(providers.size);
    for (const { name } of providers) {
      if (!successes.has(name)) successes.set(name, 0);
      // From the beginning, or the first refusal is no increase.
      throttled.labels({ provider: name }).inc(0);
    }
    for (const [provider, atSeconds] of successes) {
      if (providers.get(provider) !== undefined) {
        lastSuccess.labels({ provider }).set(atSeconds);
        continue;
      }
      successes.delete(provider);
      lastSuccess.remove(provider);
    }
  });
  return {
    refreshed(provider, outcome) {
      if (outcome.kind === 'unanswered') return;
      const isSuccess = outcome.kind === 'refreshed';
      const isDelta = isSuccess ? outcome.list === 'delta' : isIncremental;
      const mode = isDelta ? 'incremental' : 'full';
      total.labels({ provider, mode, outcome: isSuccess ? 'success' : 'error' }).inc();
      held.labels({ provider }).set(providers.get(provider)?.heldRemovalCount ?? 0);
      if (!isSuccess) return;
      successes.set(provider, Number(clock.unixNanos() / 1_000_000n) / 1_000);
    },
    rejected: (reason) => rejected.labels({ reason }).inc(),
    throttled: (provider) => throttled.labels({ provider }).inc(),
  };
}
