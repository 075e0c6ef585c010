// Decisions: what happened, and why?

import { type ReactNode, useCallback, useMemo } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import type { Decision } from '../../../src/api/common.ts';
import { KIND_NAMES } from '../../../src/words.ts';
import { DecisionLanes } from '../charts/lanes.tsx';
import { type TimeSpan, zoomed } from '../charts/time-axis.ts';
import { isMatch, mergeDecisions, recordOfDecision } from '../lib/decisions.ts';
import { formatClock, formatCount, formatMoment, formatPrice, plural } from '../lib/format.ts';
import { useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  by,
  Card,
  type Column,
  EmptyState,
  type Filter,
  Id,
  Legend,
  MachineLink,
  Mark,
  Page,
  Problem,
  Table,
  Tag,
} from '../parts/index.ts';
import { useDecisions, useTick, useView } from '../store/hooks.ts';
import type { PageSearch } from '../url/pages.ts';
import { NamedFilters } from './machines-filters.tsx';
import { RecordDrawer } from './record.tsx';
import './decisions.css';

type Search = PageSearch<'decisions'>;
/** What the time line spans while nobody has chosen. */
const DEFAULT_SPAN_MS = 10 * 60_000;
const MIN_SPAN_MS = 10_000;
const MARGIN_MS = 1_000;

const FILTERS: readonly Filter<'kind' | 'cluster' | 'machine' | 'shard' | 'reason'>[] = [
  { kind: 'choice', name: 'kind', label: 'Kind', options: KIND_NAMES },
  { kind: 'text', name: 'cluster', label: 'Cluster' },
  { kind: 'text', name: 'machine', label: 'Machine', hint: 'whole id' },
  { kind: 'text', name: 'shard', label: 'Shard' },
  { kind: 'text', name: 'reason', label: 'Reason', hint: 'code' },
];

export default function DecisionsPage(): ReactNode {
  const search = useSearch('decisions');
  const set = useSetSearch('decisions');
  const { at, limit, from, to, shard, cluster, machine, kind, reason } = search;
  const view = useView('decisions', { at, limit, from, to, shard, cluster, machine, kind, reason });
  const record = search.open === '' ? null : recordOfDecision(search.open);
  const close = useCallback(() => set({ open: '' }), [set]);
  return (
    <Page page="decisions" frame={view.answer?.frame} isFilling>
      <NamedFilters frame={view.answer?.frame} filters={FILTERS} values={search} onChange={set} />
      <Answered view={view}>{(answer) => <Body answer={answer} search={search} />}</Answered>
      {search.open !== '' && record === null ? (
        <Problem
          problem={{
            code: 'parameter_invalid',
            message: `“${search.open.slice(0, 120)}” is no decision: an id is shard/epoch/cycle/place.`,
          }}
        >
          <button type="button" onClick={close}>
            Close
          </button>
        </Problem>
      ) : null}
      {record === null ? null : (
        <RecordDrawer key={search.open} name={record} decisionId={search.open} onClose={close} />
      )}
    </Page>
  );
}

function Body({
  answer,
  search,
}: {
  readonly answer: Answer<'decisions'>;
  readonly search: Search;
}): ReactNode {
  const set = useSetSearch('decisions');
  const live = useDecisions();
  const decisions = useMemo(
    () =>
      mergeDecisions(
        search.at === 0 ? live.filter((decision) => isMatch(decision, search)) : [],
        answer.decisions,
        search.limit,
      ),
    [live, answer.decisions, search],
  );
  const fresh = decisions.length - answer.decisions.length;
  const total = answer.total + Math.max(0, fresh);
  const onOpen = useCallback((id: string) => set({ open: id }), [set]);
  return (
    <div className="decisions-body">
      <Card className="decisions-lanes" isFlush>
        <TimeLine answer={answer} search={search} decisions={decisions} onOpen={onOpen} />
      </Card>
      <Card
        className="decisions-list"
        title={`${formatCount(decisions.length)} of ${plural(total, 'decision')}`}
        note={
          <>
            kept since {formatMoment(answer.oldestMs)}
            {answer.damagedRecords > 0 ? (
              <>
                {' '}
                <Tag tone="warn">{plural(answer.damagedRecords, 'damaged record')} left out</Tag>
              </>
            ) : null}
          </>
        }
        isFlush
      >
        <Table<Decision>
          label="Decisions"
          noun="decisions"
          rows={decisions}
          total={total}
          columns={COLUMNS}
          rowKey={(decision) => decision.id}
          selectedKey={search.open}
          onOpen={(decision) => onOpen(decision.id)}
          maxHeight="100%"
          empty={
            <EmptyState title="No decision matches">Loosen the filters or the time.</EmptyState>
          }
        />
      </Card>
    </div>
  );
}

function TimeLine({
  answer,
  search,
  decisions,
  onOpen,
}: {
  readonly answer: Answer<'decisions'>;
  readonly search: Search;
  readonly decisions: readonly Decision[];
  readonly onOpen: (id: string) => void;
}): ReactNode {
  const set = useSetSearch('decisions');
  const tickMs = useTick();
  const newestMs = search.at === 0 ? tickMs : search.at;
  const toMs = search.to === 0 ? newestMs : search.to;
  // The line begins with what is kept, and with the oldest row where more exist than are shown: emptiness
  // before it would be a lie.
  const oldestMs =
    answer.total > answer.decisions.length
      ? (decisions.at(-1)?.atMs ?? answer.oldestMs)
      : answer.oldestMs;
  const keptMs = Math.min(oldestMs - MARGIN_MS, toMs - MIN_SPAN_MS);
  const fromMs = search.from === 0 ? Math.max(toMs - DEFAULT_SPAN_MS, keptMs) : search.from;
  const span = useMemo(() => ({ fromMs, toMs }), [fromMs, toMs]);
  const onSpan = useCallback(
    (next: TimeSpan) => set({ from: next.fromMs, to: next.toMs }, { replace: true }),
    [set],
  );
  return (
    <>
      <div className="lanes-head">
        <Legend label="Kinds" items={KIND_NAMES.map((name) => ({ name }))} />
        <div className="lanes-tools">
          {answer.total > answer.decisions.length ? (
            <Tag title="Filter, or narrow the time, to see the others">
              newest {formatCount(answer.decisions.length)} only
            </Tag>
          ) : null}
          <span className="num faint">
            {formatClock(span.fromMs)} to {formatClock(span.toMs)}
          </span>
          <button
            type="button"
            className="icon"
            aria-label="Zoom in"
            onClick={() => onSpan(zoomed(span, 0.5, 0.6, newestMs))}
          >
            +
          </button>
          <button
            type="button"
            className="icon"
            aria-label="Zoom out"
            onClick={() => onSpan(zoomed(span, 0.5, 1.7, newestMs))}
          >
            −
          </button>
          <button
            type="button"
            disabled={search.from === 0 && search.to === 0}
            onClick={() => set({ from: 0, to: 0 })}
          >
            Follow
          </button>
        </div>
      </div>
      <DecisionLanes
        lanes={answer.lanes}
        decisions={decisions}
        moves={answer.moves}
        transfers={answer.transfers}
        span={span}
        newestMs={newestMs}
        selectedId={search.open}
        onSpan={onSpan}
        onOpen={onOpen}
      />
    </>
  );
}

const COLUMNS: readonly Column<Decision>[] = [
  {
    id: 'time',
    title: 'Time',
    width: '80px',
    cell: (decision) => <span className="num">{formatClock(decision.atMs)}</span>,
    compare: by((decision) => decision.atMs),
  },
  {
    id: 'kind',
    title: 'Kind',
    width: '98px',
    cell: (decision) => <Mark name={decision.kind} />,
    compare: by((decision) => decision.kind),
  },
  {
    id: 'machine',
    title: 'Machine',
    width: 'minmax(120px, 1.8fr)',
    cell: (decision) => <MachineLink machine={decision.machine} />,
    compare: by((decision) => decision.machine),
  },
  {
    id: 'cluster',
    title: 'Cluster',
    width: 'minmax(72px, 1fr)',
    cell: (decision) => <Id text={decision.cluster} />,
    compare: by((decision) => decision.cluster),
  },
  {
    id: 'cost',
    title: '$/h',
    align: 'right',
    width: '76px',
    cell: (decision) => <span className="num">{formatPrice(decision.dollarsPerHour)}</span>,
    compare: by((decision) => decision.dollarsPerHour),
  },
];
