// The whole fleet in numbers, from what its shards say about themselves.

import type { ShardRow } from '../tables/shards.ts';

export interface FleetSummary {
  readonly shards: number;
  readonly unreachableShards: number;
  readonly pausedShards: number;
  readonly machines: number;
  readonly machinesByState: Readonly<Record<string, number>>;
  readonly sessions: number;
  readonly needs: number;
  readonly shortfalls: number;
}

export function fleetSummary(rows: readonly ShardRow[]): FleetSummary {
  const statuses = rows.flatMap(({ status }) => (status === null ? [] : [status]));
  const byState: Record<string, number> = {};
  for (const { machinesByState } of statuses) {
    for (const [state, count] of Object.entries(machinesByState)) {
      byState[state] = (byState[state] ?? 0) + count;
    }
  }
  const sum = (read: (status: (typeof statuses)[number]) => number): number =>
    statuses.reduce((total, status) => total + read(status), 0);
  return {
    shards: rows.length,
    unreachableShards: rows.length - statuses.length,
    pausedShards: statuses.filter(({ actuation }) => actuation?.paused === true).length,
    machines: sum(({ machines }) => machines),
    machinesByState: byState,
    sessions: sum(({ sessions }) => sessions),
    needs: sum(({ needs }) => needs),
    shortfalls: sum(({ shortfalls }) => shortfalls),
  };
}
