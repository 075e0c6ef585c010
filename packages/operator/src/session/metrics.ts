// The operator's series that the session and the roll-up write (observability §5). The Kubernetes
// half adds its own (API writes, evictions, informers); nothing here has a cluster label, because an
// operator serves one cluster.

import {
  B16cs,
  B16ms,
  B17ms,
  B20cs,
  type BucketBounds,
  type Counter,
  type CounterFamily,
  type Gauge,
  type Histogram,
  type HistogramFamily,
  type MetricRegistry,
} from '@bigfleet/telemetry';
import { UPCOMING_NODE_PHASES } from '@bigfleet/kube';

const SKIP_REASONS = [
  'unsupported_operator',
  'bad_quantity',
  'bad_penalty',
  'foreign_node',
] as const;
const ROLLUP_PHASES = ['list', 'build', 'enqueue'] as const;
const DRAIN_OUTCOMES = ['empty', 'deadline', 'forbidden', 'node_not_found', 'given_up'] as const;

/** 256 B … 256 MiB: the common case is 2 KB, and the last bound is the message limit. */
const ROLLUP_BYTES: BucketBounds = Array.from({ length: 11 }, (_, exponent) => 256 * 4 ** exponent);

export interface OperatorMetrics {
  readonly rollupDuration: Histogram;
  readonly rollupPhaseDuration: HistogramFamily<{ readonly phase: typeof ROLLUP_PHASES }>;
  readonly rollupBytes: Histogram;
  readonly rollupLastAcked: Gauge;
  readonly rollupSkipped: CounterFamily<{ readonly reason: typeof SKIP_REASONS }>;
  readonly capacityRequests: Gauge;
  readonly acknowledgeDuration: Histogram;
  readonly acknowledged: Counter;
  readonly sessionReconnects: Counter;
  readonly sessionConnected: Gauge;
  readonly outboxDropped: Counter;
  readonly nodeStateDuration: HistogramFamily<{ readonly phase: typeof UPCOMING_NODE_PHASES }>;
  readonly dispatchInflight: Gauge;
  readonly drainDuration: HistogramFamily<{ readonly outcome: typeof DRAIN_OUTCOMES }>;
  readonly reclaimUnresolved: Counter;
}

export function createOperatorMetrics(registry: MetricRegistry): OperatorMetrics {
  return {
    rollupDuration: registry.histogram({
      name: 'bigfleet_operator_rollup_duration_seconds',
      help: 'List CapacityRequests, aggregate and enqueue one roll-up.',
      bounds: B16ms,
    }),
    rollupPhaseDuration: registry.histogram({
      name: 'bigfleet_operator_rollup_phase_duration_seconds',
      help: 'Phases of one roll-up.',
      bounds: B16ms,
      labels: { phase: ROLLUP_PHASES },
    }),
    rollupBytes: registry.histogram({
      name: 'bigfleet_operator_rollup_bytes',
      help: 'Encoded size of roll-ups.',
      bounds: ROLLUP_BYTES,
    }),
    rollupLastAcked: registry.gauge({
      name: 'bigfleet_operator_rollup_last_acked_timestamp_seconds',
      help: 'When the shard last confirmed a roll-up as applied.',
      initial: () => false,
    }),
    rollupSkipped: registry.counter({
      name: 'bigfleet_operator_rollup_skipped_total',
      help: 'CapacityRequests left out of roll-ups, counted in every roll-up.',
      labels: { reason: SKIP_REASONS },
    }),
    capacityRequests: registry.gauge({
      name: 'bigfleet_operator_capacity_requests',
      help: 'CapacityRequests known at the last roll-up.',
    }),
    acknowledgeDuration: registry.histogram({
      name: 'bigfleet_operator_acknowledge_duration_seconds',
      help: 'One batch of Pending to Acknowledged.',
      bounds: B16cs,
    }),
    acknowledged: registry.counter({
      name: 'bigfleet_operator_acknowledged_total',
      help: 'CapacityRequests moved to Acknowledged.',
    }),
    sessionReconnects: registry.counter({
      name: 'bigfleet_operator_session_reconnects_total',
      help: 'Dials after a session ended.',
    }),
    sessionConnected: registry.gauge({
      name: 'bigfleet_operator_session_connected',
      help: '1 while the shard has acknowledged the hello of the current session.',
    }),
    outboxDropped: registry.counter({
      name: 'bigfleet_operator_outbox_dropped_total',
      help: 'Responses dropped because the outbox was full.',
    }),
    nodeStateDuration: registry.histogram({
      name: 'bigfleet_operator_node_state_update_duration_seconds',
      help: 'Handling one NodeStateUpdate, by the phase that it became.',
      bounds: B17ms,
      labels: { phase: UPCOMING_NODE_PHASES },
    }),
    dispatchInflight: registry.gauge({
      name: 'bigfleet_operator_dispatch_inflight',
      help: 'Cluster-bound handlers that run now.',
    }),
    drainDuration: registry.histogram({
      name: 'bigfleet_operator_drain_duration_seconds',
      help: 'From the cordon to the outcome of one node.',
      bounds: B20cs,
      labels: { outcome: DRAIN_OUTCOMES },
    }),
    reclaimUnresolved: registry.counter({
      name: 'bigfleet_operator_reclaim_unresolved_total',
      help: 'Entries of reclaim instructions that named no node of this cluster.',
    }),
  };
}
