// The session series (observability §3.5, §3.8), resolved once. Everything that counts takes this
// struct, so a test passes a registry of its own and reads the text of a scrape.

import type { Counter, Gauge, MetricRegistry } from '@bigfleet/telemetry';

/** Why a frame, or an entry of one, had no effect. */
const DROP_REASONS = [
  'unknown_frame',
  'foreign_bootstrap_response',
  'foreign_reclaim_ack',
  'foreign_node_identity',
  'oversized_node_identity',
] as const;
export type DropReason = (typeof DROP_REASONS)[number];

export interface SessionMetrics {
  readonly activeSessions: Gauge;
  readonly installed: Counter;
  readonly replaced: Counter;
  readonly removed: Counter;
  readonly identityRejected: Counter;
  readonly outboxFrames: Gauge;
  readonly outboxCoalesced: Counter;
  readonly sessionsStalled: Counter;
  readonly framesDropped: Readonly<Record<DropReason, Counter>>;
}

export function createSessionMetrics(registry: MetricRegistry): SessionMetrics {
  const lifecycle = registry.counter({
    name: 'bigfleet_shard_session_lifecycle_total',
    help: 'Operator sessions installed, replaced by a newer one of the same cluster, and removed.',
    labels: { event: ['installed', 'removed', 'replaced'] },
  });
  const dropped = registry.counter({
    name: 'bigfleet_shard_session_frames_dropped_total',
    help: 'Frames of operators, or entries of them, that had no effect.',
    labels: { reason: DROP_REASONS },
  });
  return {
    activeSessions: registry.gauge({
      name: 'bigfleet_shard_active_sessions',
      help: 'Clusters whose operator is connected.',
    }),
    installed: lifecycle.labels({ event: 'installed' }),
    replaced: lifecycle.labels({ event: 'replaced' }),
    removed: lifecycle.labels({ event: 'removed' }),
    identityRejected: registry.counter({
      name: 'bigfleet_shard_session_identity_rejected_total',
      help: 'Sessions refused because the certificate does not belong to the cluster it claims.',
    }),
    outboxFrames: registry.gauge({
      name: 'bigfleet_shard_outbox_frames',
      help: 'Frames that wait for operators to read, over all sessions.',
    }),
    outboxCoalesced: registry.counter({
      name: 'bigfleet_shard_outbox_coalesced_total',
      help: 'Frames that replaced a queued older one of the same key.',
    }),
    sessionsStalled: registry.counter({
      name: 'bigfleet_shard_sessions_stalled_total',
      help: 'Sessions ended because their operator did not read.',
    }),
    framesDropped: Object.fromEntries(
      DROP_REASONS.map((reason) => [reason, dropped.labels({ reason })]),
    ) as SessionMetrics['framesDropped'],
  };
}
