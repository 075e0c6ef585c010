// Rails (observability §3.5, §3.8).

import type { ConfigureBrake } from '@bigfleet/engine';
import type { Gauge, MetricRegistry } from '@bigfleet/telemetry';

export interface RailMetrics {
  readonly actuationPaused: Gauge;
  readonly railOverrides: Gauge;
  readonly fenced: Gauge;
}

export function createRailMetrics(registry: MetricRegistry): RailMetrics {
  return {
    actuationPaused: registry.gauge({
      name: 'bigfleet_shard_actuation_paused',
      help: '1 while decided actions are suppressed: by flag, by an administrator, or fenced.',
    }),
    railOverrides: registry.gauge({
      name: 'bigfleet_shard_rail_overrides',
      help: 'Settings in rails.json that override the flags.',
    }),
    fenced: registry.gauge({
      name: 'bigfleet_shard_fenced',
      help: '1 once a provider fenced this process: another one acts for its identity.',
    }),
  };
}

// What the brake on machines that never join holds off (adr 0085), read when a scrape asks. With the
// rail off both are 0.

export function observeBrakes(
  registry: MetricRegistry,
  brake: Pick<ConfigureBrake, 'heldNeedCount' | 'heldTypeCount'> | undefined,
): void {
  const family = registry.gauge({
    name: 'bigfleet_shard_brakes',
    help: 'Needs and instance types that are held off because their Configures fail in a row.',
    labels: { subject: ['need', 'type'] },
  });
  registry.onCollect(() => {
    family.labels({ subject: 'need' }).set(brake?.heldNeedCount ?? 0);
    family.labels({ subject: 'type' }).set(brake?.heldTypeCount ?? 0);
  });
}
