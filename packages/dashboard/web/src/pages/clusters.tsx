// Clusters: whose session is up, what each one runs on and costs, and where demand waits.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { TIER_NAMES } from '../../../src/words.ts';
import { formatCount } from '../lib/format.ts';
import { To, useGo, useOrder, useSearch, useSetSearch } from '../nav/link.tsx';
import {
  Answered,
  Card,
  type Column,
  countColumn,
  dollarsColumn,
  FilterBar,
  Mark,
  Page,
  Sparkline,
  Stat,
  statesColumn,
  StatesTableCard,
  Tag,
  When,
} from '../parts/index.ts';
import { useView } from '../store/hooks.ts';
import './clusters.css';

type Cluster = Answer<'clusters'>['clusters'][number];

export default function ClustersPage(): ReactNode {
  const search = useSearch('clusters');
  const set = useSetSearch('clusters');
  const go = useGo();
  const order = useOrder('clusters');
  const view = useView('clusters', { at: search.at, q: search.q });
  return (
    <Page page="clusters" frame={view.answer?.frame}>
      <FilterBar
        filters={[{ kind: 'text', name: 'q', label: 'Cluster', hint: 'or shard, identity' }]}
        values={search}
        onChange={set}
      />
      <Answered view={view}>
        {({ clusters, total }) => {
          const away = clusters.filter(({ isConnected }) => !isConnected).length;
          const short = clusters.filter(isShortAboveBatch).length;
          return (
            <>
              <Card>
                <div className="stats">
                  <Stat
                    label="Clusters"
                    value={total}
                    dollarsPerHour={clusters.reduce((sum, each) => sum + each.dollarsPerHour, 0)}
                  />
                  <Stat label="Not connected" value={away} tone={away > 0 ? 'bad' : 'good'} />
                  <Stat label="Short above batch" value={short} tone={short > 0 ? 'bad' : 'good'} />
                </div>
              </Card>
              <StatesTableCard
                title="Sessions"
                label="Clusters"
                noun="clusters"
                rows={clusters}
                total={total}
                columns={clusters.some(({ team }) => team !== '') ? COLUMNS : WITHOUT_TEAM}
                rowKey={({ cluster, shard }) => `${cluster}\n${shard}`}
                {...order}
                onOpen={({ cluster }) => go('needs', { cluster })}
                maxHeight="62vh"
              />
            </>
          );
        }}
      </Answered>
    </Page>
  );
}

function ShardCell({ shard }: Cluster): ReactNode {
  return (
    <To page="shards" search={{ shard }} className="cut-start" title={shard}>
      <bdi>{shard}</bdi>
    </To>
  );
}

function isShortAboveBatch({ unmet }: Cluster): boolean {
  return unmet.some((rows, tier) => rows > 0 && TIER_NAMES[tier] !== 'batch');
}

const COLUMNS: readonly Column<Cluster>[] = [
  {
    id: 'cluster',
    title: 'Cluster',
    width: 'minmax(120px, 1.2fr)',
    cell: ({ cluster, identity }) => (
      <To page="needs" search={{ cluster }} className="cut" title={identity}>
        {cluster}
      </To>
    ),
    compare: (a, b) => (a.cluster < b.cluster ? -1 : 1),
  },
  {
    id: 'session',
    title: 'Session',
    hint: 'The operator’s session with its shard, and since when',
    width: '120px',
    cell: ({ isConnected, sinceMs }) => (
      <>
        <Tag tone={isConnected ? 'good' : 'bad'}>{isConnected ? 'up' : 'down'}</Tag>{' '}
        {sinceMs !== null && (
          <span className="faint">
            <When atMs={sinceMs} />
          </span>
        )}
      </>
    ),
    compare: (a, b) => Number(a.isConnected) - Number(b.isConnected),
  },
  {
    id: 'rollup',
    title: 'Roll-up',
    hint: 'The last time that its demand was told',
    width: '92px',
    align: 'right',
    cell: ({ lastRollupMs }) => <When atMs={lastRollupMs} />,
    compare: (a, b) => (b.lastRollupMs ?? 0) - (a.lastRollupMs ?? 0),
  },
  {
    id: 'team',
    title: 'Team',
    width: 'minmax(96px, 0.9fr)',
    cell: ({ team }) => (team === '' ? <span className="faint">none</span> : team),
    compare: (a, b) => (a.team < b.team ? -1 : 1),
  },
  { id: 'shard', title: 'Shard', width: 'minmax(90px, 0.7fr)', cell: ShardCell },
  countColumn({ id: 'needs', title: 'Needs', width: '60px' }, ({ needRows }) => needRows),
  {
    id: 'unmet',
    title: 'Unmet',
    hint: 'Needs that wait: critical, service, batch',
    width: '96px',
    align: 'right',
    cell: ({ cluster, unmet }) =>
      unmet.every((rows) => rows === 0) ? (
        <span className="faint">none</span>
      ) : (
        <To page="triage" search={{ cluster }} className="num">
          {TIER_NAMES.map((name, tier) => {
            const rows = unmet[tier] ?? 0;
            return rows === 0 ? null : (
              <span key={name} className="cluster-unmet">
                <Mark name={name} isQuiet />
                {formatCount(rows)}
              </span>
            );
          })}
        </To>
      ),
    compare: (a, b) => unmetOrder(a) - unmetOrder(b),
  },
  countColumn(
    { id: 'machines', title: 'Machines', width: '74px' },
    ({ machines }) => machines,
    (count, { cluster }) => (
      <To page="machines" search={{ cluster }}>
        {count}
      </To>
    ),
  ),
  countColumn(
    {
      id: 'phantoms',
      title: 'Phantoms',
      width: '76px',
      hint: 'Machines at Ready whose node is not',
    },
    ({ phantoms }) => phantoms,
    (count, { cluster }) => (
      <To page="triage" search={{ cluster, branch: 'phantom-capacity' }}>
        {count}
      </To>
    ),
  ),
  statesColumn(({ byState }) => byState, 'minmax(84px, 1fr)'),
  dollarsColumn(({ dollarsPerHour }) => dollarsPerHour),
  {
    id: 'spending',
    title: 'Last hour',
    width: '84px',
    cell: ({ spending }) => (
      <Sparkline
        values={spending}
        label="Dollars per hour in the last hour"
        width={68}
        height={20}
      />
    ),
  },
  {
    id: 'quarantined',
    title: 'Held back',
    hint: 'Roll-ups that shrank so much that the shard keeps the ones before',
    width: '80px',
    align: 'right',
    cell: ({ quarantinedRollups }) =>
      quarantinedRollups === 0 ? (
        <span className="faint">0</span>
      ) : (
        <Tag tone="warn">{formatCount(quarantinedRollups)}</Tag>
      ),
    compare: (a, b) => a.quarantinedRollups - b.quarantinedRollups,
  },
];

const WITHOUT_TEAM: readonly Column<Cluster>[] = COLUMNS.filter(({ id }) => id !== 'team');

function unmetOrder({ unmet }: Cluster): number {
  return unmet.reduce((sum, rows, tier) => sum + rows * 1e6 ** (TIER_NAMES.length - 1 - tier), 0);
}
