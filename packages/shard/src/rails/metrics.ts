// Rails (observability §3.5, §3.8).

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
