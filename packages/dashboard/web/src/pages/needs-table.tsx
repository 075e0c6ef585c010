// The rows of needs: what a cluster asks for, what serves it, and since when it waits.

import type { ReactNode } from 'react';
import type { NeedRow } from '../../../src/api/common.ts';
import { formatCount, formatPenalty, plural } from '../lib/format.ts';
import { exactResources, penaltyOrder, requirementsText, resourceText } from '../lib/needs.ts';
import { To, useGo } from '../nav/link.tsx';
import { by, type Column, Id, Mark, type Order, Table, Tag, When } from '../parts/index.ts';
import { ClaimedMoney } from './claimed-money.tsx';

const COLUMNS: readonly Column<NeedRow>[] = [
  {
    id: 'priority',
    title: 'Priority',
    width: '150px',
    cell: (need) => (
      <>
        <Mark name={need.tier} />
        <span className="num soft">{formatCount(need.priority)}</span>
      </>
    ),
    compare: by((need) => need.priority),
  },
  {
    id: 'cluster',
    title: 'Cluster',
    width: 'minmax(110px, 0.8fr)',
    cell: (need) => <Id text={need.cluster} />,
    compare: by((need) => need.cluster),
  },
  {
    id: 'asks',
    title: 'Asks for',
    width: 'minmax(180px, 1.7fr)',
    cell: (need) => (
      <To
        page="explain"
        search={{ cluster: need.cluster, fingerprint: need.fingerprint, group: need.group }}
        className="cut num"
        title={`${exactResources(need.resources)}\n${need.fingerprint}`}
      >
        {resourceText(need.resources) || 'nothing'}
      </To>
    ),
  },
  {
    id: 'group',
    title: 'Gang',
    hint: 'Its machines come together or not at all, in one domain',
    width: 'minmax(70px, 0.6fr)',
    cell: (need) =>
      need.group === '' ? <span className="faint">–</span> : <Id text={need.group} />,
    compare: by((need) => need.group),
  },
  {
    id: 'where',
    title: 'On what, where',
    width: 'minmax(150px, 1.5fr)',
    cell: (need) => (
      <span className="cut" title={need.requirements.join('\n')}>
        {need.requirements.length === 0 ? (
          <span className="faint">anywhere</span>
        ) : (
          requirementsText(need.requirements)
        )}
      </span>
    ),
  },
  {
    id: 'penalty',
    title: 'Penalty',
    hint: 'Of an interruption, and of giving a machine back: dollars, or pinned',
    width: '128px',
    align: 'right',
    cell: (need) => (
      <span className="num">
        {formatPenalty(need.interruptionPenalty)}{' '}
        <span className="faint">/ {formatPenalty(need.reclamationPenalty)}</span>
      </span>
    ),
    compare: by((need) => penaltyOrder(need.interruptionPenalty)),
  },
  {
    id: 'claimed',
    title: 'Machines',
    width: '116px',
    align: 'right',
    cell: (need) => (
      <span className="num">
        {formatCount(need.claimed)}
        {need.claimed === 0 ? null : (
          <span className="faint">
            {' '}
            <ClaimedMoney dollars={need.claimedDollarsPerHour} />
          </span>
        )}
      </span>
    ),
    compare: by((need) => need.claimedDollarsPerHour ?? -1),
  },
  {
    id: 'status',
    title: 'Status',
    width: 'minmax(120px, 1.2fr)',
    cell: (need) =>
      need.isSatisfied ? (
        <Tag tone="good">met</Tag>
      ) : (
        <span className="cut" title={need.reasonText}>
          <Tag tone={need.tier === 'batch' ? 'neutral' : 'bad'}>
            {need.isEscalated ? 'escalated' : 'unmet'}
          </Tag>{' '}
          <span className="soft">{need.reason.replaceAll('_', ' ')}</span>
        </span>
      ),
    compare: by((need) => (need.isSatisfied ? '' : need.reason)),
  },
  {
    id: 'age',
    title: 'Unmet',
    width: '98px',
    align: 'right',
    cell: (need) =>
      need.unmetSinceMs === null ? (
        <span className="faint">–</span>
      ) : (
        <span title={plural(need.ageCyclesUnmet, 'cycle')}>
          <When atMs={need.unmetSinceMs} />
        </span>
      ),
    compare: by((need) => need.ageCyclesUnmet),
  },
];

export function NeedTable(props: {
  readonly needs: readonly NeedRow[];
  readonly total: number;
  readonly label: string;
  readonly maxHeight?: string;
  readonly order?: Order | null;
  readonly onOrder?: (order: Order) => void;
}): ReactNode {
  const { needs, total, label, maxHeight, order, onOrder } = props;
  const go = useGo();
  return (
    <Table
      label={label}
      noun="needs"
      rows={needs}
      total={total}
      columns={COLUMNS}
      rowKey={(need) => [need.cluster, need.fingerprint, need.group].join('\n')}
      onOpen={({ cluster, fingerprint, group }) => go('explain', { cluster, fingerprint, group })}
      {...(maxHeight !== undefined && { maxHeight })}
      {...(order !== undefined && { order })}
      {...(onOrder !== undefined && { onOrder })}
    />
  );
}
