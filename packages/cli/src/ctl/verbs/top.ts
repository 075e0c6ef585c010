// `top`: the fleet at a glance, redrawn on a terminal.

import { defineVerb } from '../frame/define-verb.ts';
import { EVERYTHING } from '../kinds/kind.ts';
import { type ShardRow, shards, wholeMicros } from '../kinds/shards.ts';
import type { Style } from '../output/style.ts';
import { type Column, tableLines } from '../output/table.ts';
import { countText, dollarsText } from '../output/text.ts';
import { shardFlags, shardFlagsProblem, shardSelection } from '../frame/flags.ts';

/** In transit: neither free nor serving. */
const BUSY = ['Creating', 'Configuring', 'Draining', 'Deleting'];

function ofState(...states: readonly string[]): (row: ShardRow) => string {
  return ({ status }) =>
    status === null
      ? ''
      : String(states.reduce((sum, state) => sum + (status.machinesByState[state] ?? 0), 0));
}

const columns: readonly Column<ShardRow>[] = [
  { title: 'SHARD', of: ({ shard }) => shard },
  { title: 'AGO', of: ({ status }) => status?.lastCycleAge ?? '' },
  { title: 'SERVING', of: ofState('Configured'), tone: () => 'good' },
  { title: 'IDLE', of: ofState('Idle') },
  { title: 'BUSY', of: ofState(...BUSY) },
  { title: 'FAILED', of: ofState('Failed') },
  { title: 'QUOTA', of: ofState('Speculative') },
  { title: '$/H', of: ({ status }) => (status === null ? '' : dollarsText(status.dollarsPerHour)) },
  { title: 'NEEDS', of: ({ status }) => (status === null ? '' : String(status.needs)) },
  {
    title: 'SHORT',
    of: ({ status }) => (status === null ? '' : String(status.shortfalls)),
    tone: ({ status }) => (status !== null && status.shortfalls > 0 ? 'bad' : undefined),
  },
  { title: 'STATE', of: stateOf, tone: (row) => (stateOf(row) === 'ok' ? 'good' : 'warn') },
  { title: 'CYCLE', of: ({ status }) => String(status?.cycle ?? ''), isWide: true },
  { title: 'SESSIONS', of: ({ status }) => String(status?.sessions ?? ''), isWide: true },
  { title: 'VERSION', of: ({ status }) => status?.version ?? '', isWide: true },
];

function stateOf({ status }: ShardRow): string {
  if (status === null) return 'unreachable';
  if (!status.ready) return 'starting';
  if (status.actuation?.paused === true) return 'paused';
  return status.actuation?.dryRun === true ? 'dry run' : 'ok';
}

export const topVerb = defineVerb({
  name: 'top',
  group: 'Look',
  summary: 'the fleet at a glance; live on a terminal, until Ctrl-C',
  details: [
    'QUOTA counts machines that could be created, BUSY those between two states. $/H is what the',
    'providers bill for the machines that exist.',
  ],
  flags: shardFlags,
  examples: ['top', 'top --watch=false -o json', 'top --shard=shard-0 --interval=1s'],
  problem: shardFlagsProblem,
  isWatchable: true,
  isLive: true,
  report: async ({ links, values, context }) => {
    const query = { ...EVERYTHING, ...shardSelection(values) };
    const listed = await shards.list({
      links,
      query,
      nowUnixNanos: context.runtime.clock.unixNanos(),
    });
    const { rows } = listed;
    const summary = fleetSummary(rows);
    return {
      ...listed,
      lines: (form, style) => [
        ...summaryLines(summary, style),
        '',
        ...tableLines(columns, rows, { form, style }),
      ],
      document: { summary, shards: rows },
    };
  },
});

/** The whole fleet in numbers, from what its shards say about themselves. */
function fleetSummary(rows: readonly ShardRow[]) {
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
    dollarsPerHour: wholeMicros(sum(({ dollarsPerHour }) => dollarsPerHour)),
    sessions: sum(({ sessions }) => sessions),
    needs: sum(({ needs }) => needs),
    shortfalls: sum(({ shortfalls }) => shortfalls),
  };
}

function summaryLines(summary: ReturnType<typeof fleetSummary>, style: Style): readonly string[] {
  const { unreachableShards: gone, pausedShards: paused, shortfalls } = summary;
  const troubles = [
    ...(gone > 0 ? [style.paint(`${gone} unreachable`, 'bad')] : []),
    ...(paused > 0 ? [style.paint(`${paused} paused`, 'warn')] : []),
  ];
  const states = Object.entries(summary.machinesByState)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${countText(count)} ${state}`);
  const short = style.paint(
    `${countText(shortfalls)} shortfalls`,
    shortfalls > 0 ? 'bad' : undefined,
  );
  return [
    `Shards:   ${summary.shards}${troubles.length === 0 ? '' : ` (${troubles.join(', ')})`}`,
    `Machines: ${[countText(summary.machines), ...(states.length > 0 ? [`(${states.join(', ')})`] : [])].join(' ')}`,
    `Cost:     ${dollarsText(summary.dollarsPerHour)} per hour`,
    `Demand:   ${countText(summary.needs)} needs of ${countText(summary.sessions)} sessions, ${short}`,
  ];
}
