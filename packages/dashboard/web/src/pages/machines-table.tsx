// The rows of machines: the same on every page that lists them.

import { type ReactNode, useMemo } from 'react';
import type { MachineRow } from '../../../src/api/common.ts';
import { CAPACITY_NAMES, STATE_NAMES } from '../../../src/words.ts';
import { formatPenalty, formatPrice, formatProbability } from '../lib/format.ts';
import { penaltyOrder } from '../lib/needs.ts';
import { useGo } from '../nav/link.tsx';
import { by, type Column, Id, MachineLink, Mark, type Order, Table, When } from '../parts/index.ts';

export type MachineColumn =
  | 'machine'
  | 'state'
  | 'cluster'
  | 'type'
  | 'capacity'
  | 'zone'
  | 'cost'
  | 'risk'
  | 'penalty'
  | 'age'
  | 'trouble';

const COLUMNS: readonly (Column<MachineRow> & { readonly id: MachineColumn })[] = [
  {
    id: 'machine',
    title: 'Machine',
    width: 'minmax(190px, 2.2fr)',
    cell: (row) => <MachineLink machine={row.machine} />,
    compare: by((row) => row.machine),
  },
  {
    id: 'state',
    title: 'State',
    width: '116px',
    cell: (row) => <Mark name={row.state} />,
    compare: by((row) => STATE_NAMES.indexOf(row.state)),
  },
  {
    id: 'cluster',
    title: 'Cluster',
    width: 'minmax(100px, 1fr)',
    cell: (row) =>
      row.cluster === '' ? <span className="faint">none</span> : <Id text={row.cluster} />,
    compare: by((row) => row.cluster),
  },
  {
    id: 'type',
    title: 'Type',
    width: 'minmax(118px, 1fr)',
    cell: (row) => <span title={row.provider}>{row.instanceType}</span>,
    compare: by((row) => row.instanceType),
  },
  {
    id: 'capacity',
    title: 'Capacity',
    width: '108px',
    cell: (row) => <Mark name={row.capacityType} />,
    compare: by((row) => CAPACITY_NAMES.indexOf(row.capacityType)),
  },
  {
    id: 'zone',
    title: 'Zone',
    width: 'minmax(90px, 0.8fr)',
    cell: (row) => <span title={[row.region, row.zone, row.rack].join(' / ')}>{row.zone}</span>,
    compare: by((row) => row.zone),
  },
  {
    id: 'cost',
    title: '$/h',
    width: '84px',
    align: 'right',
    cell: (row) => <span className="num">{formatPrice(row.dollarsPerHour)}</span>,
    compare: by((row) => row.dollarsPerHour),
  },
  {
    id: 'risk',
    title: 'Risk',
    hint: 'Interruption probability, as published by the provider',
    width: '72px',
    align: 'right',
    cell: (row) => <span className="num">{formatProbability(row.interruptionProbability)}</span>,
    compare: by((row) => row.interruptionProbability),
  },
  {
    id: 'penalty',
    title: 'Penalty',
    hint: 'What an interruption would cost the work on it: a bucket in dollars, or pinned',
    width: '82px',
    align: 'right',
    cell: (row) => <span className="num">{formatPenalty(row.interruptionPenalty)}</span>,
    compare: by((row) => penaltyOrder(row.interruptionPenalty)),
  },
  {
    id: 'age',
    title: 'In state',
    width: '104px',
    align: 'right',
    cell: (row) => <When atMs={row.sinceMs} />,
    // Oldest first is the larger age.
    compare: by((row) => -row.sinceMs),
  },
  {
    id: 'trouble',
    title: 'Last error',
    width: 'minmax(120px, 1.2fr)',
    cell: (row) => (
      <span
        className={row.lastError === '' ? 'cut faint' : 'cut'}
        title={row.lastError || row.pendingAction}
      >
        {row.lastError === '' ? row.pendingAction : row.lastError}
      </span>
    ),
  },
];

export function MachineTable(props: {
  readonly machines: readonly MachineRow[];
  readonly total: number;
  readonly label: string;
  readonly hides?: readonly MachineColumn[];
  readonly maxHeight?: string;
  /** Set when the server sorts: the columns that it can sort by. */
  readonly sorted?: {
    readonly order: Order;
    readonly columns: readonly string[];
    readonly onOrder: (order: Order) => void;
  };
}): ReactNode {
  const { machines, total, label, hides, maxHeight, sorted } = props;
  const go = useGo();
  const hidden = hides?.join() ?? '';
  const sortable = sorted?.columns.join();
  const columns = useMemo(() => {
    const shown = COLUMNS.filter(({ id }) => !hidden.split(',').includes(id));
    if (sortable === undefined) return shown;
    return shown.map(({ compare, ...column }) =>
      compare !== undefined && sortable.split(',').includes(column.id)
        ? { ...column, compare }
        : column,
    );
  }, [hidden, sortable]);
  return (
    <Table
      label={label}
      noun="machines"
      rows={machines}
      total={total}
      columns={columns}
      rowKey={(row) => row.machine}
      onOpen={(row) => go('explain', { machine: row.machine })}
      {...(maxHeight !== undefined && { maxHeight })}
      {...(sorted !== undefined && {
        order: sorted.order,
        onOrder: sorted.onOrder,
        isServerSorted: true,
      })}
    />
  );
}
