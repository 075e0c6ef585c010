// The dots of the cost scatter as rows, for readers who want figures or see no picture.

import type { ReactNode } from 'react';
import type { Answer } from '../../../src/api/answers.ts';
import { formatCount, formatPenalty, formatPrice, formatProbability } from '../lib/format.ts';
import { useGo } from '../nav/link.tsx';
import { type Column, Mark, Money, Table, Tag } from '../parts/index.ts';

type Group = Answer<'cost'>['groups'][number];

export const FLAG_WORDS: Readonly<Record<Group['flags'][number], string>> = {
  'pinned-on-spot': 'pinned work on spot',
  'cheap-on-reserved': 'cheap work on reserved',
};

function groupKey(group: Group): string {
  const { instanceType, capacityType, zone, provider, interruptionPenalty } = group;
  const { price, interruptionProbability } = group;
  return [
    instanceType,
    capacityType,
    zone,
    provider,
    interruptionPenalty,
    price,
    interruptionProbability,
  ].join('\n');
}

function penaltyOrder({ interruptionPenalty }: Group): number {
  const dollars = Number(interruptionPenalty);
  return Number.isNaN(dollars) ? Number.MAX_VALUE : dollars;
}

function effective({ price, loss }: Group): number {
  return loss === null ? Infinity : price + loss;
}

const COLUMNS: readonly Column<Group>[] = [
  {
    id: 'type',
    title: 'Type',
    width: 'minmax(120px, 1.2fr)',
    cell: (group) => group.instanceType,
    compare: (a, b) => (a.instanceType < b.instanceType ? -1 : 1),
  },
  {
    id: 'capacity',
    title: 'Capacity',
    width: '110px',
    cell: (group) => <Mark name={group.capacityType} />,
  },
  { id: 'zone', title: 'Zone', cell: (group) => group.zone },
  {
    id: 'penalty',
    title: 'Penalty',
    width: '90px',
    align: 'right',
    cell: (group) => <span className="num">{formatPenalty(group.interruptionPenalty)}</span>,
    compare: (a, b) => penaltyOrder(a) - penaltyOrder(b) || 0,
  },
  {
    id: 'price',
    title: 'Price/h',
    width: '90px',
    align: 'right',
    cell: (group) => <span className="num">{formatPrice(group.price)}</span>,
    compare: (a, b) => a.price - b.price,
  },
  {
    id: 'risk',
    title: 'Risk',
    width: '70px',
    align: 'right',
    cell: (group) => (
      <span className="num">{formatProbability(group.interruptionProbability)}</span>
    ),
    compare: (a, b) => a.interruptionProbability - b.interruptionProbability,
  },
  {
    id: 'loss',
    title: 'Loss/h',
    hint: 'Expected by interruption, of one machine',
    width: '90px',
    align: 'right',
    cell: (group) => (
      <span className="num">{group.loss === null ? '∞' : formatPrice(group.loss)}</span>
    ),
    compare: (a, b) => (a.loss ?? Infinity) - (b.loss ?? Infinity),
  },
  {
    id: 'effective',
    title: 'Effective/h',
    width: '100px',
    align: 'right',
    cell: (group) => (
      <span className="num">{group.loss === null ? '∞' : formatPrice(effective(group))}</span>
    ),
    compare: (a, b) => (effective(a) === effective(b) ? 0 : effective(a) - effective(b)),
  },
  {
    id: 'count',
    title: 'Machines',
    width: '90px',
    align: 'right',
    cell: (group) => <span className="num">{formatCount(group.count)}</span>,
    compare: (a, b) => a.count - b.count,
  },
  {
    id: 'dollars',
    title: 'Together/h',
    width: '100px',
    align: 'right',
    cell: (group) => <Money dollars={group.dollarsPerHour} />,
    compare: (a, b) => a.dollarsPerHour - b.dollarsPerHour,
  },
  {
    id: 'flags',
    title: 'Flags',
    width: 'minmax(150px, 1fr)',
    cell: (group) =>
      group.flags.map((flag) => (
        <Tag key={flag} tone={flag === 'pinned-on-spot' ? 'bad' : 'warn'}>
          {FLAG_WORDS[flag]}
        </Tag>
      )),
    compare: (a, b) => a.flags.length - b.flags.length,
  },
];

export function CostGroups(props: {
  readonly groups: readonly Group[];
  readonly total: number;
}): ReactNode {
  const go = useGo();
  return (
    <Table
      label="Groups of bound machines"
      noun="groups"
      rows={props.groups}
      total={props.total}
      columns={COLUMNS}
      rowKey={groupKey}
      maxHeight="420px"
      onOpen={({ instanceType, capacityType, zone, provider }) =>
        go('machines', { q: instanceType, capacity: capacityType, zone, provider, sort: 'cost' })
      }
    />
  );
}
