// Shards: what the registry says, what each answers about itself, and what it may do at the moment
// (decision 18). A shard that does not answer keeps its row: hiding it would hide the problem.

import { ok } from '@bigfleet/base';
import {
  ActuationHold,
  type ActuationState,
  type ShardRegistryEntry,
  type ShardStatus,
} from '@bigfleet/wire';
import { exitCodeOf } from '../connect/shards.ts';
import type { Style } from '../output/style.ts';
import { type Column, type TableForm, tableLines } from '../output/table.ts';
import { ageText, enumName, secondsText, utcTime } from '../output/text.ts';
import { defineKind, isOfShard, type Kind, limited, type ListAsk } from './kind.ts';

type Entry = Omit<ShardRegistryEntry, '$typeName' | '$unknown'>;

function shardRow(entry: Entry, status: ShardStatus | undefined, nowUnixNanos: bigint) {
  return {
    shard: entry.shardId || (status?.shardId ?? ''),
    address: entry.address,
    registered: utcTime(entry.registeredAtUnixNs) ?? null,
    lastHeartbeat: utcTime(entry.lastHeartbeatUnixNs) ?? null,
    heartbeatAge: ageText(entry.lastHeartbeatUnixNs, nowUnixNanos),
    /** Null: it did not answer. */
    status: status === undefined ? null : statusView(status, nowUnixNanos),
  };
}

export type ShardRow = ReturnType<typeof shardRow>;

function statusView(status: ShardStatus, nowUnixNanos: bigint) {
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
    dollarsPerHour: wholeMicros(status.dollarsPerHour),
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
    /** Parts of the last 256 cycles, in the order in which they run; none from a shard that does not tell. */
    phases: status.phases.map(({ phase, p50Seconds, p99Seconds, maxSeconds, cycles }) => ({
      phase,
      p50Seconds,
      p99Seconds,
      maxSeconds,
      cycles,
    })),
  };
}

/** A sum of prices without the digits that adding them up made. */
export function wholeMicros(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}

type StatusView = ReturnType<typeof statusView>;

type PhaseRow = StatusView['phases'][number];

const PHASE_COLUMNS: readonly Column<PhaseRow>[] = [
  { title: 'PHASE', of: ({ phase }) => phase },
  { title: 'P50', of: (row) => quantileText(row, 'p50Seconds') },
  { title: 'P99', of: (row) => quantileText(row, 'p99Seconds') },
  { title: 'MAX', of: (row) => quantileText(row, 'maxSeconds') },
  { title: 'CYCLES', of: ({ cycles }) => String(cycles) },
];

/** Nothing while no cycle was measured. */
function quantileText(
  row: PhaseRow | undefined,
  quantile: 'p50Seconds' | 'p99Seconds' | 'maxSeconds',
): string {
  return row === undefined || row.cycles === 0 ? '' : secondsText(row[quantile]);
}

function wholeCycle({ phases }: StatusView): PhaseRow | undefined {
  return phases.find(({ phase }) => phase === 'cycle');
}

function ofStatus(read: (status: StatusView) => string): (row: ShardRow) => string {
  return ({ status }) => (status === null ? '' : read(status));
}

export function actuationRow(state: ActuationState) {
  return {
    paused: state.paused,
    /** What holds the pause: flag, runtime, fenced. */
    heldBy: state.heldBy.map((hold) => enumName(ActuationHold, hold)),
    dryRun: state.dryRun,
    reclaimCapFraction: state.reclaimCapFraction,
    emptyRollupGuard: state.emptyRollupGuard,
    maxActionsPerCycle: state.maxActionsPerCycle,
    /** Settings that were changed at run time and win over the flags. */
    overridden: state.overridden,
    changedBy: state.changedBy,
    changed: utcTime(state.changedUnixNanos) ?? null,
    reason: state.reason,
  };
}

export type ActuationRow = ReturnType<typeof actuationRow>;

/** `paused(flag,runtime)`, `dry run`, `active`; with what was changed by whom and when. */
function actuationText(row: ActuationRow | null): string {
  if (row === null) return '';
  const mode = row.paused ? `paused(${row.heldBy.join(',')})` : row.dryRun ? 'dry run' : 'active';
  if (row.changed === null || row.overridden.length === 0) return mode;
  const what = row.overridden.join(',');
  return `${mode} [${what} by ${row.changedBy || 'unknown'} ${row.changed}]`;
}

export const shards: Kind<ShardRow> = defineKind<ShardRow>({
  plural: 'shards',
  columns: [
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
      of: ({ status }) => (status === null ? 'unreachable' : actuationText(status.actuation)),
      tone: ({ status }) =>
        status === null ? 'bad' : status.actuation?.paused === true ? 'warn' : undefined,
    },
    { title: 'ADDRESS', of: ({ address }) => address, isWide: true },
    {
      title: 'CYCLE_P50',
      of: ofStatus((status) => quantileText(wholeCycle(status), 'p50Seconds')),
      isWide: true,
    },
    {
      title: 'CYCLE_P99',
      of: ofStatus((status) => quantileText(wholeCycle(status), 'p99Seconds')),
      isWide: true,
    },
    { title: 'SESSIONS', of: ofStatus(({ sessions }) => String(sessions)), isWide: true },
    { title: 'NEEDS', of: ofStatus(({ needs }) => String(needs)), isWide: true },
    { title: 'EPOCH', of: ofStatus(({ epoch }) => String(epoch)), isWide: true },
    { title: 'TERM', of: ofStatus(({ coordinatorTerm: term }) => String(term)), isWide: true },
    { title: 'VERSION', of: ofStatus(({ version }) => version), isWide: true },
  ],
  rows: async (ask) => {
    // Before they are asked: a shard beyond the limit costs no call.
    const entries = limited(await entriesOf(ask), ask.query);
    const targets = entries.map(({ shardId, address }) => ({ id: shardId, address }));
    const asked = await ask.links.shards.askAll(targets, 'get shard status', (api, call) =>
      api.query.getShardStatus({}, call),
    );
    const rows = entries.map((entry) => {
      const answer = asked.answers.find(
        ({ shard }) => shard.id === entry.shardId && shard.address === entry.address,
      );
      return shardRow(entry, answer?.value, ask.nowUnixNanos);
    });
    return { rows, problems: asked.problems, exitCode: exitCodeOf(asked) };
  },
  narrow: (name) => ok({ shards: [name] }),
  isNamed: ({ shard }, name) => shard === name,
  details: ({ status, ...row }) => {
    if (status === null) return { row };
    const { phases, ...rest } = status;
    const table = (form: TableForm, style: Style): readonly string[] =>
      tableLines(PHASE_COLUMNS, phases, { form, style });
    const described = { ...row, status: rest };
    return phases.length === 0
      ? { row: described }
      : { row: described, table: { title: 'Parts of the last cycles', lines: table } };
  },
});

/** Without a coordinator, by address, the registry's columns stay empty. */
async function entriesOf({ links, query }: ListAsk): Promise<readonly Entry[]> {
  const never = { registeredAtUnixNs: 0n, lastHeartbeatUnixNs: 0n };
  if (query.addresses.length > 0) {
    return query.addresses.map((address) => ({ shardId: '', address, ...never }));
  }
  // An unknown id is an error here as everywhere.
  if (query.shards.length > 0) await links.shards.find(query);
  const { shards: entries } = await links.coordinator.ask('list shards', (api, call) =>
    api.coordinator.listShards({}, call),
  );
  return entries.filter(({ shardId }) => isOfShard(query, shardId));
}
