// Coordinator: who leads, whether shards answer it, which shard serves which cluster, and what ownership is on
// its way. Clusters keep running without it: nothing on this page is urgent by itself.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, plural } from '../lib/format.ts';
import { To, useOrder, useSearch } from '../nav/link.tsx';
import {
  Answered,
  Card,
  type Column,
  EmptyState,
  Missing,
  Page,
  Stat,
  Table,
  Tag,
  type Tone,
  When,
} from '../parts/index.ts';
import { useTick, useView } from '../store/hooks.ts';
import { judgedAtMs, QUEUE_ORDER, type QueueState, queueState } from './coordinator-queue.ts';

type Coordinator = Answer<'coordinator'>;
type Binding = Coordinator['bindings'][number];
type Transfer = Coordinator['transfers'][number];

export default function CoordinatorPage(): ReactNode {
  const search = useSearch('coordinator');
  const view = useView('coordinator', {});
  const order = useOrder('coordinator');
  return (
    <Page page="coordinator" frame={view.answer?.frame}>
      {search.at !== 0 && (
        <p className="soft" role="note">
          The coordinator’s state is shown as it is now: nobody records it.
        </p>
      )}
      <Answered view={view}>
        {(answer) => (
          <>
            <Leadership answer={answer} />
            {answer.coordinator !== null && (
              <Queue answer={answer} isLive={view.status === 'live'} />
            )}
            <Card
              title={`Transfers: ${formatCount(answer.transfers.length)}, of ${plural(
                answer.transfers.reduce((sum, { machines }) => sum + machines, 0),
                'machine',
              )}`}
              note="Machines whose owner changes from one shard to another."
              isFlush
            >
              <Table
                label="Transfers"
                noun="transfers"
                rows={answer.transfers}
                columns={TRANSFER_COLUMNS}
                rowKey={({ id }) => id}
                maxHeight="360px"
                empty={<EmptyState title="Nothing is being moved" />}
              />
            </Card>
            <Card
              title={`Bindings: ${formatCount(answer.bindings.length)}`}
              note="Which shard serves which cluster."
              isFlush
            >
              <Table
                label="Bindings"
                noun="bindings"
                rows={answer.bindings}
                columns={BINDING_COLUMNS}
                rowKey={({ cluster }) => cluster}
                {...order}
                maxHeight="480px"
                empty={<EmptyState title="No cluster is bound" />}
              />
            </Card>
          </>
        )}
      </Answered>
    </Page>
  );
}

function Leadership({ answer }: { readonly answer: Coordinator }): ReactNode {
  const { coordinator, frame, bindings } = answer;
  if (coordinator === null) {
    const source = frame.sources.find(({ kind }) => kind === 'coordinator');
    return (
      <Missing
        source={
          source ?? { kind: 'coordinator', name: '', problem: '', flag: '--coordinator <address>' }
        }
      />
    );
  }
  const conflicts = bindings.filter(({ conflict }) => conflict !== '').length;
  const { leader, leaderAddress, term, applyIndex, engine, replicas, recoveringProviders } =
    coordinator;
  return (
    <Card
      title={
        <>
          Leadership{' '}
          <Tag tone={leader === '' ? 'bad' : 'good'}>{leader === '' ? 'no leader' : 'led'}</Tag>
        </>
      }
      note={
        <>
          Asked of <span className="mono">{coordinator.node}</span>
          {coordinator.isLeader && ', which leads'} · {engine} store · version{' '}
          <span className="mono">{coordinator.version}</span>
        </>
      }
    >
      <div className="stats">
        <Stat label="Leader" value={leader === '' ? 'none' : leader} note={leaderAddress} />
        <Stat label="Term" value={term} />
        <Stat label="Applied" value={applyIndex} note="index" />
        <Stat label="Replicas" value={replicas.length} note={replicas.join(', ')} />
        <Stat
          label="Conflicts"
          value={conflicts}
          tone={conflicts > 0 ? 'bad' : 'good'}
          note={conflicts > 0 ? 'bigfleetctl doctor names what settles them' : 'none'}
        />
        <Stat
          label="Recovering providers"
          value={recoveringProviders.length}
          tone={recoveringProviders.length > 0 ? 'warn' : 'good'}
          note={recoveringProviders.join(', ')}
        />
      </div>
    </Card>
  );
}

type Queued = Coordinator['queue'][number] & { readonly state: QueueState };

const QUEUE_TAGS: Readonly<Record<QueueState, readonly [word: string, tone: Tone]>> = {
  stuck: ['stuck', 'bad'],
  silent: ['silent', 'warn'],
  waiting: ['waiting', 'accent'],
  unknown: ['not told', 'neutral'],
  clear: ['clear', 'good'],
};

const QUEUE_COLUMNS: readonly Column<Queued>[] = [
  {
    id: 'shard',
    title: 'Shard',
    width: 'minmax(120px, 1fr)',
    cell: ({ shard }) => (
      <To page="shards" search={{ shard }} className="cut">
        {shard}
      </To>
    ),
    compare: (a, b) => (a.shard < b.shard ? -1 : 1),
  },
  {
    id: 'state',
    title: 'State',
    hint: 'Stuck: an instruction waits for 15 minutes, or its shard reports nothing',
    width: '120px',
    cell: ({ state }) => {
      const [word, tone] = QUEUE_TAGS[state];
      return <Tag tone={tone}>{word}</Tag>;
    },
    compare: (a, b) => QUEUE_ORDER.indexOf(a.state) - QUEUE_ORDER.indexOf(b.state),
  },
  {
    id: 'pending',
    title: 'Without an answer',
    hint: 'Instructions that the shard has not acknowledged',
    width: '132px',
    align: 'right',
    cell: ({ pending }) =>
      pending === null ? (
        <span className="faint">not told</span>
      ) : (
        <span className={pending === 0 ? 'num faint' : 'num'}>{formatCount(pending)}</span>
      ),
    compare: (a, b) => (a.pending ?? -1) - (b.pending ?? -1),
  },
  {
    id: 'since',
    title: 'Since',
    hint: 'Since when there always were some, as this dashboard saw it',
    width: '120px',
    align: 'right',
    cell: ({ pendingSinceMs }) =>
      pendingSinceMs === null ? <span className="faint">–</span> : <When atMs={pendingSinceMs} />,
    compare: (a, b) => (b.pendingSinceMs ?? Infinity) - (a.pendingSinceMs ?? Infinity) || 0,
  },
  {
    id: 'report',
    title: 'Last report',
    hint: 'When the leader last heard from it',
    width: 'minmax(120px, 1fr)',
    align: 'right',
    cell: ({ reportMs }) => <When atMs={reportMs} />,
    compare: (a, b) => (a.reportMs ?? 0) - (b.reportMs ?? 0),
  },
];

/** The gravest first: among two hundred shards, the one that does not answer must not be looked for. */
function Queue(props: { readonly answer: Coordinator; readonly isLive: boolean }): ReactNode {
  const { queue, frame } = props.answer;
  const nowMs = judgedAtMs(frame, props.isLive, useTick());
  const rows = queue
    .map((row): Queued => ({ ...row, state: queueState(row, nowMs) }))
    .sort((a, b) => QUEUE_ORDER.indexOf(a.state) - QUEUE_ORDER.indexOf(b.state));
  const pending = queue.reduce((sum, row) => sum + (row.pending ?? 0), 0);
  const isTold = queue.some((row) => row.pending !== null);
  const stuck = rows.filter(({ state }) => state === 'stuck').length;
  return (
    <Card
      title={
        <>
          {isTold ? `Instruction queue: ${formatCount(pending)}` : 'Instruction queue'}{' '}
          {stuck > 0 && <Tag tone="bad">{plural(stuck, 'shard')} stuck</Tag>}
        </>
      }
      note={
        isTold || queue.length === 0
          ? 'What the leader told each shard and has no answer to, and when it last heard from the shard.'
          : 'This coordinator’s version does not tell what waits for an answer; when it last heard from each shard it does.'
      }
      isFlush
    >
      <Table
        label="Instruction queue"
        noun="shards"
        rows={rows}
        columns={QUEUE_COLUMNS}
        rowKey={({ shard }) => shard}
        maxHeight="360px"
        empty={<EmptyState title="No shard is registered" />}
      />
    </Card>
  );
}

const TRANSFER_COLUMNS: readonly Column<Transfer>[] = [
  {
    id: 'id',
    title: 'Transfer',
    width: 'minmax(130px, 1fr)',
    cell: ({ id }) => (
      <span className="mono cut-start" title={id}>
        <bdi>{id}</bdi>
      </span>
    ),
  },
  {
    id: 'way',
    title: 'From → to',
    width: 'minmax(160px, 1.2fr)',
    cell: ({ from, to }) => (
      <>
        <To page="decisions" search={{ shard: from }}>
          {from}
        </To>{' '}
        →{' '}
        <To page="decisions" search={{ shard: to }}>
          {to}
        </To>
      </>
    ),
    compare: (a, b) => (a.from < b.from ? -1 : 1),
  },
  { id: 'phase', title: 'Phase', width: '130px', cell: ({ phase }) => <Tag>{phase}</Tag> },
  {
    id: 'machines',
    title: 'Machines',
    width: '92px',
    align: 'right',
    cell: ({ machines }) => <span className="num">{formatCount(machines)}</span>,
    compare: (a, b) => a.machines - b.machines,
  },
  {
    id: 'reason',
    title: 'Why',
    width: 'minmax(160px, 2fr)',
    cell: ({ reason }) => (
      <span className="cut" title={reason}>
        {reason}
      </span>
    ),
  },
  {
    id: 'created',
    title: 'Began',
    width: '110px',
    align: 'right',
    cell: ({ createdMs }) => <When atMs={createdMs} />,
    compare: (a, b) => a.createdMs - b.createdMs,
  },
  {
    id: 'updated',
    title: 'Last step',
    width: '110px',
    align: 'right',
    cell: ({ updatedMs }) => <When atMs={updatedMs} />,
    compare: (a, b) => a.updatedMs - b.updatedMs,
  },
];

const BINDING_COLUMNS: readonly Column<Binding>[] = [
  {
    id: 'cluster',
    title: 'Cluster',
    cell: ({ cluster }) => (
      <To page="clusters" search={{ q: cluster }}>
        {cluster}
      </To>
    ),
    compare: (a, b) => (a.cluster < b.cluster ? -1 : 1),
  },
  {
    id: 'shard',
    title: 'Shard',
    cell: ({ shard }) => shard,
    compare: (a, b) => (a.shard < b.shard ? -1 : 1),
  },
  {
    id: 'conflict',
    title: 'Conflict',
    width: 'minmax(160px, 2fr)',
    cell: ({ conflict }) =>
      conflict === '' ? <span className="faint">none</span> : <Tag tone="bad">{conflict}</Tag>,
    compare: (a, b) => (a.conflict < b.conflict ? -1 : 1),
  },
];
