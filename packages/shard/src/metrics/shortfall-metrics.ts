// Unmet demand (observability §3.3). Every class and every age bucket is published in every cycle.

import { PRIORITY_CLASS_LABELS } from '@bigfleet/base';
import type { MetricRegistry } from '@bigfleet/telemetry';
import { AGE_BUCKETS, type ShortfallSummary } from '../ledgers/shortfalls.ts';

export function createShortfallMetrics(
  registry: MetricRegistry,
): (summary: ShortfallSummary) => void {
  const total = registry.gauge({
    name: 'bigfleet_shard_shortfalls',
    help: 'Distinct profiles whose demand is not covered.',
  });
  const escalated = registry.gauge({
    name: 'bigfleet_shard_shortfalls_escalated',
    help: 'Shortfalls older than five cycles.',
  });
  const aged = registry.gauge({
    name: 'bigfleet_shard_shortfalls_aged',
    help: 'Shortfalls by age in cycles.',
    labels: { bucket: AGE_BUCKETS },
  });
  const byPriority = registry.gauge({
    name: 'bigfleet_shard_shortfalls_by_priority',
    help: 'Shortfalls by priority class; the sum is the total.',
    labels: { priority_class: PRIORITY_CLASS_LABELS },
  });
  return (summary) => {
    total.set(summary.count);
    escalated.set(summary.escalatedCount);
    for (const bucket of AGE_BUCKETS) aged.labels({ bucket }).set(summary.byAge[bucket]);
    for (const label of PRIORITY_CLASS_LABELS) {
      byPriority.labels({ priority_class: label }).set(summary.byPriority[label]);
    }
  };
}
