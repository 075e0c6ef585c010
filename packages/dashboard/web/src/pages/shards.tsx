// Shards: whether each one is followed, keeps its pace and is allowed to act, and what it holds.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { STATE_NAMES } from '../../../src/words.ts';
import { formatCount, formatDuration, plural } from '../lib/format.ts';
import { To, useGo, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Bar,
  Card,
  type Column,
  EmptyState,
  Legend,
  Money,
  Page,
  Sparkline,
  Stat,
  Table,
  Tag,
  type Tone,
  When,
} from '../parts/index.ts';
import { useView } from '../store/hooks.ts';

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
  const go = useGo();
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
              <Card
                isFlush
                title="Feed and pace"
                aside={<Legend label="States" items={STATE_NAMES.map((name) => ({ name }))} />}
              >
                <Table
                  label="Shards"
                  noun="shards"
                  rows={shards}
                  columns={COLUMNS}
                  rowKey={({ shard }) => shard}
                  order={search.order === '' ? null : { column: search.order, isDown: search.down }}
                  onOrder={({ column, isDown }) => set({ order: column, down: isDown })}
                  onOpen={({ shard }) => go('decisions', { shard })}
                  maxHeight="68vh"
                  empty={
                    <EmptyState title="No shard is known">
                      Start the dashboard with <code>--shard name=address</code> or{' '}
                      <code>--coordinator address</code>.
                    </EmptyState>
                  }
                />
              </Card>
              <Rails shards={shards} />
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

const COLUMNS: readonly Column<Shard>[] = [
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
    width: '88px',
    cell: ({ state, problem, snapshots }) => (
      <Tag
        tone={STATE_TONES[state]}
        title={`${problem} ${plural(snapshots, 'whole snapshot')} since the dashboard began`}
      >
        {state}
      </Tag>
    ),
    compare: (a, b) => (a.state < b.state ? -1 : 1),
  },
  {
    id: 'acts',
    title: 'Acts',
    hint: 'Whether it may carry out what it decides',
    width: '92px',
    cell: ({ isPaused, isDryRun, isReady }) =>
      isPaused ? (
        <Tag tone="warn">paused</Tag>
      ) : isDryRun ? (
        <Tag tone="warn">dry run</Tag>
      ) : isReady ? (
        <Tag tone="good">acting</Tag>
      ) : (
        <Tag tone="warn">not ready</Tag>
      ),
  },
  {
    id: 'cycle',
    title: 'Cycle',
    hint: 'Number, and when it ended',
    width: '138px',
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
    id: 'pace',
    title: 'Cycles/min',
    width: '100px',
    cell: ({ cyclesPerMinute }) => (
      <Sparkline
        values={cyclesPerMinute}
        label="Cycles per minute in the last hour"
        width={84}
        height={20}
        fromZero
        format={formatCount}
      />
    ),
  },
  {
    id: 'actions',
    title: 'Actions/min',
    width: '100px',
    cell: ({ actionsPerMinute }) => (
      <Sparkline
        values={actionsPerMinute}
        label="Actions per minute in the last hour"
        width={84}
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
    width: '84px',
    align: 'right',
    cell: ({ lag }) => (
      <span className="num">{lag.count === 0 ? '–' : formatDuration(lag.p99Ms)}</span>
    ),
    compare: (a, b) => a.lag.p99Ms - b.lag.p99Ms,
  },
  {
    id: 'sessions',
    title: 'Sessions',
    width: '84px',
    align: 'right',
    cell: ({ sessions }) => <span className="num">{formatCount(sessions)}</span>,
    compare: (a, b) => a.sessions - b.sessions,
  },
  {
    id: 'needs',
    title: 'Needs',
    width: '76px',
    align: 'right',
    cell: ({ shard, needRows }) => (
      <To page="needs" search={{ shard }} className="num">
        {formatCount(needRows)}
      </To>
    ),
    compare: (a, b) => a.needRows - b.needRows,
  },
  {
    id: 'short',
    title: 'Short',
    width: '64px',
    align: 'right',
    cell: ({ shard, shortfalls }) =>
      shortfalls === 0 ? (
        <span className="faint">0</span>
      ) : (
        <To page="triage" search={{ shard }} className="num">
          {formatCount(shortfalls)}
        </To>
      ),
    compare: (a, b) => a.shortfalls - b.shortfalls,
  },
  {
    id: 'machines',
    title: 'Machines',
    width: '88px',
    align: 'right',
    cell: (shard) => (
      <To page="machines" search={{ shard: shard.shard }} className="num">
        {formatCount(machineCount(shard))}
      </To>
    ),
    compare: (a, b) => machineCount(a) - machineCount(b),
  },
  {
    id: 'states',
    title: 'By state',
    width: 'minmax(90px, 1fr)',
    cell: ({ byState }) => (
      <Bar
        label="Machines by state"
        parts={byState.map((value, index) => ({ name: STATE_NAMES[index] ?? '', value }))}
      />
    ),
  },
  {
    id: 'dollars',
    title: '$/h',
    width: '92px',
    align: 'right',
    cell: ({ dollarsPerHour }) => <Money dollars={dollarsPerHour} />,
    compare: (a, b) => a.dollarsPerHour - b.dollarsPerHour,
  },
];

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
    width: '120px',
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
