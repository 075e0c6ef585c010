// One accepted report as the leader keeps it: replaced as a whole, bounded where a shard could send
// more than it may. The interval between two reports is measured here, by the monotonic clock, and
// has a bound: the first report after an hour of silence must not let a shard count as fresh for hours.

import type { Clock } from '@bigfleet/base';
import type { ShardReport, ShardSummary } from '@bigfleet/wire';
import type { ShardPicture } from './soft-state.ts';

/** Coordinator §5.2: priority-ranked by the shard, so the first ones are those that count. */
const MAX_SHORTFALLS = 100;

/** A shard that is silent for longer is reported stale, whatever interval it was told to keep. */
const MAX_INTERVAL_MS = 60_000;

export function pictureOf(
  report: ShardReport,
  previous: ShardPicture | undefined,
  clock: Clock,
): ShardPicture {
  const receivedAtMs = clock.monotonicMs();
  return {
    shardId: report.shardId,
    epoch: report.shardEpoch,
    cycle: report.cycle,
    receivedAtMs,
    receivedAtUnixNanos: clock.unixNanos(),
    intervalMs:
      previous === undefined
        ? undefined
        : Math.min(MAX_INTERVAL_MS, receivedAtMs - previous.receivedAtMs),
    summary: report.summary ?? emptySummary(),
    shortfalls: report.shortfalls.slice(0, MAX_SHORTFALLS),
    providerShared: report.providerShared,
    report,
  };
}

function emptySummary(): ShardSummary {
  return {
    $typeName: 'bigfleet.v1alpha1.ShardSummary',
    totalMachines: 0,
    freeMachines: 0,
    perInstanceTypeCounts: {},
    perZoneCounts: {},
    providerAddress: '',
    idleMachines: 0,
    providers: [],
  };
}
