// Shards: whether each one is followed, keeps its pace and is allowed to act, and what it holds.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, formatDuration, plural } from '../lib/format.ts';
import { To, useOrder, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Card,
  type Column,
  countColumn,
  dollarsColumn,
  EmptyState,
  Page,
  Sparkline,
  Stat,
  statesColumn,
  StatesTableCard,
  Table,
  Tag,
  type Tone,
  When,
} from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import { ChosenCycle, CycleP99, medianOf, PhaseBar, wholeOf } from './shards-cycle.tsx';

type Shard = Answer<'shards'>['shards'][number];

const STATE_TONES: Readonly<Record<Shard['state'], Tone>> = {
  live: 'good',
  connecting: 'warn',
  stale: 'bad',
  absent: 'bad',
};

export default function ShardsPage(): ReactNode {
  const search = useSearch('shards');
  const set = useSetSearch('shards');
  const order = useOrder('shards');
  const view = useView('shards', { at: search.at });
  return (
    <Page page="shards" frame={view.answer?.frame}>
      <Answered view={view}>
        {({ shards }) => {
          const silent = shards.filter(({ state }) => state !== 'live').length;
          const held = shards.filter((shard) => shard.isPaused || shard.isDryRun).length;
          return (
            <>
              <Card>
                <div className="stats">
                  <Stat
                    label="Shards"
                    value={shards.length}
                    dollarsPerHour={shards.reduce((sum, each) => sum + each.dollarsPerHour, 0)}
                  />
                  <Stat label="Not live" value={silent} tone={silent > 0 ? 'bad' : 'good'} />
                  <Stat
                    label="Paused or on dry run"
                    value={held}
                    tone={held > 0 ? 'warn' : 'good'}
                  />
                </div>
              </Card>
              <StatesTableCard
                title="Feed and pace"
                note="A row takes the cycle of its shard apart."
                label="Shards"
                noun="shards"
                rows={shards}
                columns={columns(shards)}
                rowKey={({ shard }) => shard}
                selectedKey={search.shard}
                {...order}
                onOpen={({ shard }) => set({ shard: shard === search.shard ? '' : shard })}
                maxHeight="68vh"
                empty={
                  <EmptyState title="No shard is known">
                    Start the dashboard with <code>--shard name=address</code> or{' '}
                    <code>--coordinator address</code>.
                  </EmptyState>
                }
              />
              <ChosenCycle shards={shards} name={search.shard} />
              <Rails shards={shards} />
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

/** Bars are drawn to one scale, so that a slow shard is a long bar. */
function columns(shards: readonly Shard[]): readonly Column<Shard>[] {
  const longestMs = Math.max(0, ...shards.map(({ phases }) => medianOf(phases)));
  return [
    {
      id: 'shard',
      title: 'Shard',
      width: 'minmax(96px, 1fr)',
      cell: ({ shard, address, version }) => (
        <To page="decisions" search={{ shard }} title={`${address} · ${version}`} className="cut">
          {shard}
        </To>
      ),
      compare: (a, b) => (a.shard < b.shard ? -1 : 1),
    },
    {
      id: 'state',
      title: 'Feed',
      hint: 'Whether it is followed, and whether it may carry out what it decides',
      width: '116px',
      cell: (shard) => (
        <>
          <Tag
            tone={STATE_TONES[shard.state]}
            title={`${shard.problem} ${plural(shard.snapshots, 'whole snapshot')} since the dashboard began`}
          >
            {shard.state}
          </Tag>
          <Acts shard={shard} />
        </>
      ),
      compare: (a, b) => (a.state < b.state ? -1 : 1),
    },
    {
      id: 'cycle',
      title: 'Cycle',
      hint: 'Number, and when it ended',
      width: '118px',
      align: 'right',
      cell: ({ cycle, epoch, lastCycleMs }) => (
        <span className="num" title={`epoch ${epoch}`}>
          {formatCount(cycle)}{' '}
          <span className="faint">
            <When atMs={lastCycleMs} />
          </span>
        </span>
      ),
      compare: (a, b) => a.cycle - b.cycle,
    },
    {
      id: 'phases',
      title: 'Median by phase',
      hint: 'What a cycle in the middle spends its time on, all shards to one scale',
      width: 'minmax(116px, 1.4fr)',
      cell: ({ phases }) => <PhaseBar phases={phases} totalMs={longestMs} />,
      compare: (a, b) => medianOf(a.phases) - medianOf(b.phases),
    },
    {
      id: 'p99',
      title: 'p99',
      hint: 'Of the whole cycle: one in a hundred takes longer',
      width: '72px',
      align: 'right',
      cell: ({ phases }) => <CycleP99 phases={phases} />,
      compare: (a, b) => (wholeOf(a.phases)?.p99Ms ?? -1) - (wholeOf(b.phases)?.p99Ms ?? -1),
    },
    {
      id: 'pace',
      title: 'Cycles/min',
      width: '84px',
      cell: ({ cyclesPerMinute }) => (
        <Sparkline
          values={cyclesPerMinute}
          label="Cycles per minute in the last hour"
          width={68}
          height={20}
          fromZero
          format={formatCount}
        />
      ),
    },
    {
      id: 'actions',
      title: 'Actions/min',
      width: '84px',
      cell: ({ actionsPerMinute }) => (
        <Sparkline
          values={actionsPerMinute}
          label="Actions per minute in the last hour"
          width={68}
          height={20}
          token="--action-provision"
          fromZero
          format={formatCount}
        />
      ),
    },
    {
      id: 'lag',
      title: 'Lag p99',
      hint: 'From the end of a cycle to its arrival here',
      width: '72px',
      align: 'right',
      cell: ({ lag }) => (
        <span className="num">{lag.count === 0 ? '–' : formatDuration(lag.p99Ms)}</span>
      ),
      compare: (a, b) => a.lag.p99Ms - b.lag.p99Ms,
    },
    countColumn({ id: 'sessions', title: 'Sessions', width: '70px' }, ({ sessions }) => sessions),
    countColumn(
      { id: 'needs', title: 'Needs', width: '60px' },
      ({ needRows }) => needRows,
      (count, { shard }) => (
        <To page="needs" search={{ shard }}>
          {count}
        </To>
      ),
    ),
    countColumn(
      { id: 'short', title: 'Short', width: '54px' },
      ({ shortfalls }) => shortfalls,
      (count, { shard }) => (
        <To page="triage" search={{ shard }}>
          {count}
        </To>
      ),
    ),
    countColumn(
      { id: 'machines', title: 'Machines', width: '74px' },
      machineCount,
      (count, { shard }) => (
        <To page="machines" search={{ shard }}>
          {count}
        </To>
      ),
    ),
    statesColumn(({ byState }) => byState, 'minmax(64px, 0.7fr)'),
    dollarsColumn(({ dollarsPerHour }) => dollarsPerHour),
  ];
}

/** A shard that acts has nothing to say about it. */
function Acts({ shard: { isPaused, isDryRun, isReady } }: { readonly shard: Shard }): ReactNode {
  const held = isPaused ? 'paused' : isDryRun ? 'dry run' : isReady ? '' : 'not ready';
  return held === '' ? null : <Tag tone="warn">{held}</Tag>;
}

function machineCount({ byState }: Shard): number {
  return byState.reduce((sum, count) => sum + count, 0);
}

const RAIL_COLUMNS: readonly Column<Shard>[] = [
  { id: 'shard', title: 'Shard', width: 'minmax(110px, 0.5fr)', cell: ({ shard }) => shard },
  {
    id: 'started',
    title: 'Started',
    width: '130px',
    cell: ({ startedMs }) => <When atMs={startedMs} />,
  },
  {
    id: 'version',
    title: 'Version',
    width: '118px',
    cell: ({ version }) => <span className="mono">{version}</span>,
  },
  {
    id: 'rails',
    title: 'Rails and problems',
    width: 'minmax(240px, 3fr)',
    cell: ({ rails, problem }) => (
      <span className="cut" title={[...rails, problem].join('\n')}>
        {[...rails, problem].filter((part) => part !== '').join(' · ')}
      </span>
    ),
  },
];

/** Only shards that somebody has set otherwise, or that have a problem: the rest has nothing to say. */
function Rails({ shards }: { readonly shards: readonly Shard[] }): ReactNode {
  const told = shards.filter(({ rails, problem }) => rails.length > 0 || problem !== '');
  if (told.length === 0) return null;
  return (
    <Card
      title="Set otherwise, or in trouble"
      note="Rails that differ from the flags the shard was started with, and what is wrong with its feed."
      isFlush
    >
      <Table
        label="Shards that are set otherwise or in trouble"
        noun="shards"
        rows={told}
        columns={RAIL_COLUMNS}
        rowKey={({ shard }) => shard}
      />
    </Card>
  );
}
