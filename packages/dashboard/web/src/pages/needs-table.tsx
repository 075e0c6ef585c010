// The rows of needs: what a cluster asks for, what serves it, and since when it waits.

import { type ReactNode, useMemo } from 'react';
import type { NeedRow } from '../../../src/api/common.ts';
import { TIER_NAMES } from '../../../src/words.ts';
import { formatCount, plural } from '../lib/format.ts';
import { To, useGo } from '../nav/link.tsx';
import { type Column, Mark, Money, type Order, Table, Tag, When } from '../parts/index.ts';

/** `cpu 32, memory 128Gi`. */
export function resourceText(resources: Readonly<Record<string, string>>): string {
  return Object.entries(resources)
    .map(([name, amount]) => `${name} ${amount}`)
    .join(', ');
}

/** `zone In [a, b]`: the label without its domain, which is the same for all. */
function shortRequirement(requirement: string): string {
  const [label = '', ...rest] = requirement.split(' ');
  return [label.slice(label.lastIndexOf('/') + 1), ...rest].join(' ');
}

const by =
  <T extends number | string>(of: (row: NeedRow) => T) =>
  (a: NeedRow, b: NeedRow): number =>
    of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0;

type NeedColumn =
  | 'tier'
  | 'priority'
  | 'cluster'
  | 'need'
  | 'asks'
  | 'where'
  | 'penalty'
  | 'claimed'
  | 'status'
  | 'age';

const COLUMNS: readonly (Column<NeedRow> & { readonly id: NeedColumn })[] = [
  {
    id: 'tier',
    title: 'Tier',
    width: '92px',
    cell: (need) => <Mark name={need.tier} />,
    compare: by((need) => -TIER_NAMES.indexOf(need.tier)),
  },
  {
    id: 'priority',
    title: 'Priority',
    width: '92px',
    align: 'right',
    cell: (need) => <span className="num">{formatCount(need.priority)}</span>,
    compare: by((need) => need.priority),
  },
  {
    id: 'cluster',
    title: 'Cluster',
    width: 'minmax(90px, 0.8fr)',
    cell: (need) => <span className="cut">{need.cluster}</span>,
    compare: by((need) => need.cluster),
  },
  {
    id: 'need',
    title: 'Need',
    width: 'minmax(120px, 0.8fr)',
    cell: (need) => (
      <To
        page="explain"
        search={{ cluster: need.cluster, fingerprint: need.fingerprint, group: need.group }}
        className="mono cut"
        title={need.fingerprint}
      >
        {need.fingerprint.slice(0, 12)}
        {need.group !== '' && ` · ${need.group}`}
      </To>
    ),
    compare: by((need) => need.fingerprint),
  },
  {
    id: 'asks',
    title: 'Asks for',
    width: 'minmax(160px, 1.2fr)',
    cell: (need) => (
      <span className="cut num" title={resourceText(need.resources)}>
        {resourceText(need.resources)}
      </span>
    ),
  },
  {
    id: 'where',
    title: 'Where',
    width: 'minmax(150px, 1.3fr)',
    cell: (need) => (
      <span className="cut" title={need.requirements.join('\n')}>
        {need.requirements.length === 0 ? (
          <span className="faint">anywhere</span>
        ) : (
          need.requirements.map(shortRequirement).join(', ')
        )}
      </span>
    ),
  },
  {
    id: 'penalty',
    title: 'Penalty',
    hint: 'Of an interruption, and of giving a machine back: buckets in dollars, or pinned',
    width: '96px',
    align: 'right',
    cell: (need) => (
      <span className="num">
        {need.interruptionPenalty} <span className="faint">/ {need.reclamationPenalty}</span>
      </span>
    ),
  },
  {
    id: 'claimed',
    title: 'Machines, $/h',
    width: '120px',
    align: 'right',
    cell: (need) => (
      <span className="num">
        {formatCount(need.claimed)}{' '}
        <span className="faint">
          <Money dollars={need.claimedDollarsPerHour} per="h" />
        </span>
      </span>
    ),
    compare: by((need) => need.claimedDollarsPerHour),
  },
  {
    id: 'status',
    title: 'Status',
    width: 'minmax(150px, 1.2fr)',
    cell: (need) =>
      need.isSatisfied ? (
        <Tag tone="good">met</Tag>
      ) : (
        <span className="cut" title={`${need.reason}: ${need.reasonText}`}>
          <Tag tone={need.tier === 'batch' ? 'neutral' : 'bad'}>
            {need.isEscalated ? 'escalated' : 'unmet'}
          </Tag>{' '}
          {need.reasonText}
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
  readonly hides?: readonly NeedColumn[];
  readonly maxHeight?: string;
  readonly order?: Order | null;
  readonly onOrder?: (order: Order) => void;
}): ReactNode {
  const { needs, total, label, maxHeight, order, onOrder } = props;
  const go = useGo();
  const hidden = props.hides?.join() ?? '';
  const columns = useMemo(
    () => COLUMNS.filter(({ id }) => !hidden.split(',').includes(id)),
    [hidden],
  );
  return (
    <Table
      label={label}
      noun="needs"
      rows={needs}
      total={total}
      columns={columns}
      rowKey={(need) => [need.cluster, need.fingerprint, need.group].join('\n')}
      onOpen={({ cluster, fingerprint, group }) => go('explain', { cluster, fingerprint, group })}
      {...(maxHeight !== undefined && { maxHeight })}
      {...(order !== undefined && { order })}
      {...(onOrder !== undefined && { onOrder })}
    />
  );
}
