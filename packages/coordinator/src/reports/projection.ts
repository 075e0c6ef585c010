// What readers see of the soft state: ListShardReports and heartbeats (coordinator §5.4).
// Requirements are never shown here: they belong to the demand of clusters, and the shard's
// InspectNeeds is asked for them.

import type { ShardReportSnapshot } from '@bigfleet/wire';
import type { ShardPicture, SoftState } from './soft-state.ts';

/** All shards, or the one named; none after a failover until they report. */
export function reportSnapshots(soft: SoftState, shardId: string): readonly ShardReportSnapshot[] {
  const pictures = soft.pictures();
  const wanted = shardId === '' ? pictures : pictures.filter((known) => known.shardId === shardId);
  return wanted.map(snapshotOf);
}

/** 0 = never, in this leadership. */
export function lastHeartbeatUnixNs(soft: SoftState, shardId: string): bigint {
  return soft.picture(shardId)?.receivedAtUnixNanos ?? 0n;
}

function snapshotOf(picture: ShardPicture): ShardReportSnapshot {
  return {
    $typeName: 'bigfleet.v1alpha1.ShardReportSnapshot',
    shardId: picture.shardId,
    cycle: picture.report.cycle,
    receivedAtUnixNs: picture.receivedAtUnixNanos,
    summary: picture.summary,
    shortfalls: picture.shortfalls.map((row) => ({ ...row, requirements: [] })),
  };
}
