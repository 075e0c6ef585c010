// The series of the live feed (observability §3.8).

import type { Counter, Gauge, MetricRegistry } from '@bigfleet/telemetry';

export interface FeedMetrics {
  readonly readers: Gauge;
  readonly lagged: Counter;
}

export function createFeedMetrics(registry: MetricRegistry): FeedMetrics {
  return {
    readers: registry.gauge({
      name: 'bigfleet_shard_feed_readers',
      help: 'Readers of the live feed.',
    }),
    lagged: registry.counter({
      name: 'bigfleet_shard_feed_lagged_total',
      help: 'Times that a reader of the live feed fell behind and went on with a snapshot.',
    }),
  };
}
