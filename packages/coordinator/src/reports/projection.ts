// What readers see of the soft state: ListShardReports and heartbeats (coordinator §5.4).
// Requirements are never shown here: they belong to the demand of clusters, and the shard's
// InspectNeeds is asked for them.

import type { ShardReportSnapshot } from '@bigfleet/wire';
import type { FleetView } from '../state/fleet-state.ts';
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

/** Of every registered shard that was heard; by shard id. */
export function heartbeatAges(
  view: FleetView,
  soft: SoftState,
  nowMs: number,
): ReadonlyMap<string, number> {
  const pictures = view.shards().flatMap(({ id }) => soft.picture(id) ?? []);
  return new Map(
    pictures.map(({ shardId, receivedAtMs }) => [shardId, Math.max(0, nowMs - receivedAtMs)]),
  );
}

function snapshotOf(picture: ShardPicture): ShardReportSnapshot {
  return {
    $typeName: 'bigfleet.v1alpha1.ShardReportSnapshot',
    shardId: picture.shardId,
    cycle: picture.cycle,
    receivedAtUnixNs: picture.receivedAtUnixNanos,
    summary: picture.summary,
    shortfalls: picture.shortfalls.map((row) => ({ ...row, requirements: [] })),
  };
}
