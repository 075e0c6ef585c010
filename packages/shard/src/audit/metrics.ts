// observability §3.8

import type { Counter, MetricRegistry } from '@bigfleet/telemetry';

export function createAuditDropCounter(registry: MetricRegistry): Counter {
  return registry.counter({
    name: 'bigfleet_shard_audit_records_dropped_total',
    help: 'Audit lines lost because the buffer was full or the file could not be written.',
  });
}
