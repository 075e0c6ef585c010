// Shards as the coordinator knows them: who is registered, and what each reported last. Reports are
// soft state: after a failover they fill up again.

import type { ShardRegistryEntry, ShardReportSnapshot } from '@bigfleet/wire';
import { ageText, pairsText, utcTime } from '../output/text.ts';
import { defineKind, fromCoordinator, type Kind, onlyOne } from './kind.ts';

function registeredShard(entry: ShardRegistryEntry) {
  return {
    shard: entry.shardId,
    address: entry.address,
    registered: utcTime(entry.registeredAtUnixNs) ?? null,
    lastHeartbeat: utcTime(entry.lastHeartbeatUnixNs) ?? null,
  };
}

type RegisteredShard = ReturnType<typeof registeredShard>;

export const registeredShards: Kind = defineKind<RegisteredShard>({
  plural: 'registered shards',
  columns: [
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'ADDRESS', of: ({ address }) => address },
    { title: 'REGISTERED', of: ({ registered }) => registered ?? '' },
    { title: 'LAST_HEARTBEAT', of: ({ lastHeartbeat }) => lastHeartbeat ?? '' },
  ],
  rows: fromCoordinator('list shards', async ({ coordinator }, call) =>
    (await coordinator.listShards({}, call)).shards.map(registeredShard),
  ),
  isNamed: ({ shard }, name) => shard === name,
});

function shardReportRow(report: ShardReportSnapshot, nowUnixNanos: bigint) {
  const { summary } = report;
  return {
    shard: report.shardId,
    cycle: report.cycle,
    received: utcTime(report.receivedAtUnixNs) ?? null,
    age: ageText(report.receivedAtUnixNs, nowUnixNanos),
    totalMachines: summary?.totalMachines ?? 0,
    freeMachines: summary?.freeMachines ?? 0,
    idleMachines: summary?.idleMachines ?? 0,
    shortfalls: report.shortfalls.length,
    providers: providersOf(summary),
    instanceTypes: { ...summary?.perInstanceTypeCounts },
    zones: { ...summary?.perZoneCounts },
  };
}

type ShardReportRow = ReturnType<typeof shardReportRow>;

/** By name; a shard of an older version tells one address only. */
function providersOf(summary: ShardReportSnapshot['summary']): readonly string[] {
  const names = (summary?.providers ?? []).map(({ name, address }) => name || address);
  if (names.length > 0) return names;
  return [summary?.providerAddress ?? ''].filter((address) => address !== '');
}

export const shardReports: Kind = defineKind<ShardReportRow>({
  plural: 'shard reports',
  columns: [
    { title: 'SHARD', of: ({ shard }) => shard },
    { title: 'CYCLE', of: ({ cycle }) => String(cycle) },
    { title: 'AGE', of: ({ age }) => age },
    { title: 'TOTAL', of: ({ totalMachines }) => String(totalMachines) },
    { title: 'FREE', of: ({ freeMachines }) => String(freeMachines) },
    { title: 'IDLE', of: ({ idleMachines }) => String(idleMachines) },
    {
      title: 'SHORTFALLS',
      of: ({ shortfalls }) => String(shortfalls),
      tone: ({ shortfalls }) => (shortfalls > 0 ? 'warn' : undefined),
    },
    { title: 'PROVIDER', of: ({ providers }) => providers.join(',') },
    { title: 'RECEIVED', of: ({ received }) => received ?? '', isWide: true },
    { title: 'ZONES', of: ({ zones }) => pairsText(zones), isWide: true },
    { title: 'TYPES', of: ({ instanceTypes }) => pairsText(instanceTypes), isWide: true },
  ],
  rows: fromCoordinator('list shard reports', async ({ coordinator }, call, ask) => {
    const request = { shardId: onlyOne(ask.query.shards) };
    const { reports } = await coordinator.listShardReports(request, call);
    return reports.map((report) => shardReportRow(report, ask.nowUnixNanos));
  }),
  isNamed: ({ shard }, name) => shard === name,
});
