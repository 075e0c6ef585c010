// Operator-first drain (observability §3.8).

import { drainOperatorOutcomes, type DrainOperatorOutcome } from '@bigfleet/base';
import type { Counter, Gauge, MetricRegistry } from '@bigfleet/telemetry';

export type DrainKind = 'Reclaim' | 'Preempt';

export interface DrainMetrics {
  readonly waiting: Gauge;
  readonly fallbacks: Readonly<Record<DrainKind, Counter>>;
  outcome(outcome: DrainOperatorOutcome): Counter;
}

const OUTCOMES = Object.keys(drainOperatorOutcomes) as DrainOperatorOutcome[];

export function createDrainMetrics(registry: MetricRegistry): DrainMetrics {
  const fallback = registry.counter({
    name: 'bigfleet_shard_reclaim_fallback_total',
    help: 'Drains without a pass through disruption budgets, because no operator was connected.',
    labels: { kind: ['Reclaim', 'Preempt'] },
  });
  const outcomes = registry.counter({
    name: 'bigfleet_shard_drain_operator_outcomes_total',
    help: "The operator's part of a drain, by how it ended.",
    labels: { outcome: OUTCOMES },
  });
  return {
    waiting: registry.gauge({
      name: 'bigfleet_shard_drain_waiting',
      help: 'Drains handed to operators, with the provider not called yet.',
    }),
    fallbacks: {
      Reclaim: fallback.labels({ kind: 'Reclaim' }),
      Preempt: fallback.labels({ kind: 'Preempt' }),
    },
    outcome: (outcome) => outcomes.labels({ outcome }),
  };
}
