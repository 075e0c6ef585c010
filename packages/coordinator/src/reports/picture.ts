// One accepted report as the leader keeps it: replaced as a whole, bounded where a shard could send
// more than it may. The interval between two reports is measured here, by the monotonic clock.

import type { Clock } from '@bigfleet/base';
import type { ShardReport, ShardSummary } from '@bigfleet/wire';
import type { ShardPicture } from './soft-state.ts';

/** §5.2: priority-ranked by the shard, so the first ones are those that count. */
const MAX_SHORTFALLS = 100;

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
    intervalMs: previous === undefined ? undefined : receivedAtMs - previous.receivedAtMs,
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
