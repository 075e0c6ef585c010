// Machine lifecycle: how many machines take each step, how long they stand before it, who fails, and who
// stands longer than nearly all of their kind.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { Percentiles } from '../../../src/api/common.ts';
import { Flow } from '../charts/flow.tsx';
import { formatCount, formatDuration } from '../lib/format.ts';
import { useGo, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Card,
  type Column,
  EmptyState,
  MachineLink,
  Mark,
  Money,
  Page,
  Table,
  When,
} from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import './lifecycle.css';
import { MachineFilters } from './machines-filters.tsx';

type Lifecycle = Answer<'lifecycle'>;
type Stuck = Lifecycle['stuck'][number];
type Failure = Lifecycle['failures'][number];
type StateLine = Lifecycle['states'][number];
type Edge = Lifecycle['edges'][number];

const STEPS_ARE_WIDER =
  'The filters choose machines; a step is kept with its provider and shard alone, so steps, times and failures are those of all such machines.';

export default function LifecyclePage(): ReactNode {
  const search = useSearch('lifecycle');
  const set = useSetSearch('lifecycle');
  const { table, ...params } = search;
  const { q, capacity, cluster, team, zone } = params;
  const isNarrowed = [q, capacity, cluster, team, zone].some((filter) => filter !== '');
  const view = useView('lifecycle', params);
  return (
    <Page page="lifecycle" frame={view.answer?.frame}>
      <MachineFilters page="lifecycle" frame={view.answer?.frame} />
      <Answered view={view}>
        {(answer) => (
          <>
            <Card
              title="From quota to work and back"
              note={
                <>
                  Steps seen since <When atMs={answer.observedSinceMs} absolute />, with the time
                  that machines had stood in the state before. A state filters the page.
                  {isNarrowed ? <strong> {STEPS_ARE_WIDER}</strong> : null}
                </>
              }
              aside={
                <button type="button" aria-pressed={table} onClick={() => set({ table: !table })}>
                  As a table
                </button>
              }
              isFlush={table}
            >
              {table ? (
                <FlowTables answer={answer} />
              ) : (
                <Flow
                  states={answer.states}
                  edges={answer.edges}
                  selected={search.state}
                  onSelect={(state) => set({ state: state === search.state ? '' : state })}
                />
              )}
            </Card>
            <StuckCard stuck={answer.stuck} />
            <FailuresCard failures={answer.failures} />
          </>
        )}
      </Answered>
    </Page>
  );
}

function dwellColumns<R>(of: (row: R) => Percentiles): readonly Column<R>[] {
  const parts = [
    ['p50', 'p50Ms'],
    ['p90', 'p90Ms'],
    ['p99', 'p99Ms'],
    ['longest', 'maxMs'],
  ] as const;
  return parts.map(([title, key]) => ({
    id: key,
    title,
    width: '100px',
    align: 'right',
    cell: (row) => (
      <span className="num">{of(row).count === 0 ? '–' : formatDuration(of(row)[key])}</span>
    ),
    compare: (a, b) => of(a)[key] - of(b)[key],
  }));
}

const STATE_COLUMNS: readonly Column<StateLine>[] = [
  { id: 'state', title: 'State', cell: (line) => <Mark name={line.state} /> },
  {
    id: 'count',
    title: 'Machines',
    align: 'right',
    cell: (line) => <span className="num">{formatCount(line.count)}</span>,
    compare: (a, b) => a.count - b.count,
  },
  {
    id: 'dollars',
    title: '$/h',
    align: 'right',
    cell: (line) => <Money dollars={line.dollarsPerHour} />,
    compare: (a, b) => a.dollarsPerHour - b.dollarsPerHour,
  },
  ...dwellColumns<StateLine>((line) => line.dwell),
];

const EDGE_COLUMNS: readonly Column<Edge>[] = [
  { id: 'from', title: 'From', cell: (edge) => <Mark name={edge.from} /> },
  { id: 'to', title: 'To', cell: (edge) => <Mark name={edge.to} /> },
  {
    id: 'count',
    title: 'Times',
    align: 'right',
    cell: (edge) => <span className="num">{formatCount(edge.count)}</span>,
    compare: (a, b) => a.count - b.count,
  },
  ...dwellColumns<Edge>((edge) => edge.dwell),
];

function FlowTables({ answer }: { readonly answer: Lifecycle }): ReactNode {
  return (
    <>
      <Table
        label="States, and how long machines stay in them"
        noun="states"
        rows={answer.states}
        columns={STATE_COLUMNS}
        rowKey={(line) => line.state}
      />
      <Table
        label="Steps between states, and the time before them"
        noun="steps"
        rows={answer.edges}
        columns={EDGE_COLUMNS}
        rowKey={(edge) => `${edge.from} ${edge.to}`}
      />
    </>
  );
}

const STUCK_COLUMNS: readonly Column<Stuck>[] = [
  {
    id: 'machine',
    title: 'Machine',
    width: 'minmax(160px, 1.4fr)',
    cell: ({ machine }) => <MachineLink machine={machine.machine} />,
  },
  {
    id: 'state',
    title: 'State',
    width: '120px',
    cell: ({ machine }) => <Mark name={machine.state} />,
  },
  {
    id: 'since',
    title: 'In it for',
    width: '110px',
    align: 'right',
    cell: ({ expectedMs, overdueMs }) => (
      <span className="num">{formatDuration(expectedMs + overdueMs)}</span>
    ),
    compare: (a, b) => a.expectedMs + a.overdueMs - b.expectedMs - b.overdueMs,
  },
  {
    id: 'expected',
    title: 'Kind’s p99',
    hint: '99 of 100 machines of its kind leave the state within this time',
    width: '110px',
    align: 'right',
    cell: ({ expectedMs }) => <span className="num">{formatDuration(expectedMs)}</span>,
    compare: (a, b) => a.expectedMs - b.expectedMs,
  },
  {
    id: 'overdue',
    title: 'Overdue',
    width: '110px',
    align: 'right',
    cell: ({ overdueMs }) => <strong className="num">{formatDuration(overdueMs)}</strong>,
    compare: (a, b) => a.overdueMs - b.overdueMs,
  },
  { id: 'provider', title: 'Provider', cell: ({ machine }) => machine.provider },
  { id: 'type', title: 'Type', cell: ({ machine }) => machine.instanceType },
  {
    id: 'cost',
    title: '$/h',
    width: '84px',
    align: 'right',
    cell: ({ machine }) => <Money dollars={machine.dollarsPerHour} />,
    compare: (a, b) => a.machine.dollarsPerHour - b.machine.dollarsPerHour,
  },
  {
    id: 'error',
    title: 'Last error',
    width: 'minmax(140px, 1.4fr)',
    cell: ({ machine }) => (
      <span className="cut" title={machine.lastError}>
        {machine.lastError}
      </span>
    ),
  },
];

function StuckCard({ stuck }: { readonly stuck: readonly Stuck[] }): ReactNode {
  const go = useGo();
  const dollars = stuck.reduce((sum, { machine }) => sum + machine.dollarsPerHour, 0);
  return (
    <Card
      title={`Stuck: ${formatCount(stuck.length)}`}
      note="Longer in a transitional state than 99 of 100 machines of their kind, and longer than a minute."
      aside={stuck.length > 0 && <Money dollars={dollars} per="h" />}
      isFlush
    >
      <Table
        label="Stuck machines"
        noun="machines"
        rows={stuck}
        columns={STUCK_COLUMNS}
        rowKey={({ machine }) => machine.machine}
        maxHeight="420px"
        onOpen={({ machine }) => go('explain', { machine: machine.machine })}
        empty={<EmptyState title="No machine is stuck" />}
      />
    </Card>
  );
}

const FAILURE_COLUMNS: readonly Column<Failure>[] = [
  {
    id: 'provider',
    title: 'Provider',
    width: 'minmax(120px, 0.8fr)',
    cell: (failure) => failure.provider,
  },
  {
    id: 'type',
    title: 'Type',
    width: 'minmax(120px, 0.8fr)',
    cell: (failure) => failure.instanceType,
  },
  {
    id: 'count',
    title: 'Machines',
    width: '100px',
    align: 'right',
    cell: (failure) => <span className="num">{formatCount(failure.count)}</span>,
    compare: (a, b) => a.count - b.count,
  },
  {
    id: 'error',
    title: 'Error',
    width: 'minmax(240px, 3fr)',
    cell: (failure) => (
      <span className="cut" title={failure.error}>
        {failure.error}
      </span>
    ),
  },
];

function FailuresCard({ failures }: { readonly failures: readonly Failure[] }): ReactNode {
  return (
    <Card title="Failures" note="Machines that reached Failed, by what the provider said." isFlush>
      <Table
        label="Failures by provider, type and error"
        noun="failures"
        rows={failures}
        columns={FAILURE_COLUMNS}
        rowKey={(failure) => [failure.provider, failure.instanceType, failure.error].join('\n')}
        maxHeight="360px"
        empty={<EmptyState title="No machine has failed" />}
      />
    </Card>
  );
}
