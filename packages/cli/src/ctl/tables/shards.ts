// Shards as they are: what the registry says, and what each answers about itself. A shard that does
// not answer keeps its row: hiding it would hide the problem.

import type { ShardRegistryEntry, ShardStatus } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';
import { ageText, utcTime } from '../output/texts.ts';
import { type ActuationRow, actuationRow, actuationText } from './actuation.ts';

export interface ShardRow {
  readonly shard: string;
  readonly address: string;
  readonly registered: string | null;
  readonly lastHeartbeat: string | null;
  readonly heartbeatAge: string;
  /** Null: it did not answer. */
  readonly status: ShardStatusView | null;
}

export interface ShardStatusView {
  readonly epoch: bigint;
  readonly coordinatorTerm: bigint;
  readonly cycle: bigint;
  readonly lastCycle: string | null;
  readonly lastCycleAge: string;
  readonly started: string | null;
  readonly ready: boolean;
  readonly version: string;
  readonly sessions: number;
  readonly needs: number;
  readonly shortfalls: number;
  readonly machines: number;
  readonly machinesByState: Readonly<Record<string, number>>;
  readonly actuation: ActuationRow | null;
  readonly providers: readonly ShardProviderView[];
  readonly recordsOldestCycle: bigint;
  readonly assignmentRevision: bigint;
}

export interface ShardProviderView {
  readonly name: string;
  readonly address: string;
  readonly source: string;
  readonly healthy: boolean;
  readonly shared: boolean;
  readonly machines: number;
  readonly idle: number;
  readonly speculative: number;
  readonly lastList: string | null;
}

export function shardRow(
  entry: Pick<
    ShardRegistryEntry,
    'shardId' | 'address' | 'registeredAtUnixNs' | 'lastHeartbeatUnixNs'
  >,
  status: ShardStatus | undefined,
  nowUnixNanos: bigint,
): ShardRow {
  return {
    shard: entry.shardId || (status?.shardId ?? ''),
    address: entry.address,
    registered: utcTime(entry.registeredAtUnixNs) ?? null,
    lastHeartbeat: utcTime(entry.lastHeartbeatUnixNs) ?? null,
    heartbeatAge: ageText(entry.lastHeartbeatUnixNs, nowUnixNanos),
    status: status === undefined ? null : statusView(status, nowUnixNanos),
  };
}

function statusView(status: ShardStatus, nowUnixNanos: bigint): ShardStatusView {
  const { actuation, machinesByState } = status;
  return {
    epoch: status.shardEpoch,
    coordinatorTerm: status.coordinatorTerm,
    cycle: status.cycle,
    lastCycle: utcTime(status.lastCycleUnixNanos) ?? null,
    lastCycleAge: ageText(status.lastCycleUnixNanos, nowUnixNanos),
    started: utcTime(status.startedUnixNanos) ?? null,
    ready: status.ready,
    version: status.version,
    sessions: status.sessions,
    needs: status.needRows,
    shortfalls: status.shortfalls,
    machines: Object.values(machinesByState).reduce((sum, count) => sum + count, 0),
    machinesByState: { ...machinesByState },
    actuation: actuation === undefined ? null : actuationRow(actuation),
    providers: status.providers.map((provider) => ({
      name: provider.name,
      address: provider.address,
      source: provider.source,
      healthy: provider.healthy,
      shared: provider.shared,
      machines: provider.totalMachines,
      idle: provider.idleMachines,
      speculative: provider.speculativeMachines,
      lastList: utcTime(provider.lastListUnixNanos) ?? null,
    })),
    recordsOldestCycle: status.recordsOldestCycle,
    assignmentRevision: status.assignmentRevision,
  };
}

function ofStatus(read: (status: ShardStatusView) => string): (row: ShardRow) => string {
  return ({ status }) => (status === null ? '' : read(status));
}

export const shardColumns: readonly Column<ShardRow>[] = [
  { title: 'SHARD', of: ({ shard }) => shard },
  { title: 'HEARTBEAT', of: ({ heartbeatAge }) => heartbeatAge },
  {
    title: 'READY',
    of: ofStatus(({ ready }) => (ready ? 'yes' : 'no')),
    tone: ({ status }) => (status?.ready === false ? 'bad' : undefined),
  },
  { title: 'CYCLE', of: ofStatus(({ cycle }) => String(cycle)) },
  { title: 'MACHINES', of: ofStatus(({ machines }) => String(machines)) },
  { title: 'SHORTFALLS', of: ofStatus(({ shortfalls }) => String(shortfalls)) },
  {
    title: 'ACTUATION',
    of: ({ status }) =>
      status === null
        ? 'unreachable'
        : status.actuation === null
          ? ''
          : actuationText(status.actuation),
    tone: ({ status }) =>
      status === null ? 'bad' : status.actuation?.paused === true ? 'warn' : undefined,
  },
  { title: 'ADDRESS', of: ({ address }) => address, isWide: true },
  { title: 'SESSIONS', of: ofStatus(({ sessions }) => String(sessions)), isWide: true },
  { title: 'NEEDS', of: ofStatus(({ needs }) => String(needs)), isWide: true },
  { title: 'EPOCH', of: ofStatus(({ epoch }) => String(epoch)), isWide: true },
  { title: 'TERM', of: ofStatus(({ coordinatorTerm: term }) => String(term)), isWide: true },
  { title: 'VERSION', of: ofStatus(({ version }) => version), isWide: true },
];
