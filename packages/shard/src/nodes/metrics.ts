// Node identity (observability §3.8).

import type { Gauge, MetricRegistry } from '@bigfleet/telemetry';

export interface NodeMetrics {
  readonly nodeLinks: Gauge;
}

export function createNodeMetrics(registry: MetricRegistry): NodeMetrics {
  return {
    nodeLinks: registry.gauge({
      name: 'bigfleet_shard_node_links',
      help: 'Machines with a known node name.',
    }),
  };
}
