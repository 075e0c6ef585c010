// Bootstrap round trips (observability §3.2, §3.8).

import { B16cs, type Counter, type Histogram, type MetricRegistry } from '@bigfleet/telemetry';

export interface BootstrapMetrics {
  readonly requestSeconds: Histogram;
  readonly reissued: Counter;
}

export function createBootstrapMetrics(registry: MetricRegistry): BootstrapMetrics {
  return {
    requestSeconds: registry.histogram({
      name: 'bigfleet_shard_request_bootstrap_seconds',
      help: 'One BootstrapRequest round trip over the stream, answered or not.',
      bounds: B16cs,
    }),
    reissued: registry.counter({
      name: 'bigfleet_shard_bootstrap_reissued_total',
      help: 'Bootstrap requests sent again to an operator that reconnected.',
    }),
  };
}
