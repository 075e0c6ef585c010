// What shards reported to the coordinator last. Soft state: after a failover it fills up again.

import { compareText } from '@bigfleet/base';
import type { ShardReportSnapshot } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';
import { ageText, utcTime } from '../output/texts.ts';

export interface ShardReportRow {
  readonly shard: string;
  readonly cycle: bigint;
  readonly received: string | null;
  readonly age: string;
  readonly totalMachines: number;
  readonly freeMachines: number;
  readonly idleMachines: number;
  readonly shortfalls: number;
  readonly providers: readonly string[];
  readonly instanceTypes: Readonly<Record<string, number>>;
  readonly zones: Readonly<Record<string, number>>;
}

export function shardReportRow(report: ShardReportSnapshot, nowUnixNanos: bigint): ShardReportRow {
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

/** By name; a shard of an older version tells one address only. */
function providersOf(summary: ShardReportSnapshot['summary']): readonly string[] {
  const names = (summary?.providers ?? []).map(({ name, address }) => name || address);
  if (names.length > 0) return names;
  return [summary?.providerAddress ?? ''].filter((address) => address !== '');
}

export const shardReportColumns: readonly Column<ShardReportRow>[] = [
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
  { title: 'ZONES', of: ({ zones }) => countsText(zones), isWide: true },
  { title: 'TYPES', of: ({ instanceTypes }) => countsText(instanceTypes), isWide: true },
];

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, count]) => `${name}=${count}`)
    .join(',');
}
