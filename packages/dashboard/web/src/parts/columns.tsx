// What the tables of clusters, shards and providers share: a frame with the legend of the states, and columns of
// counts, dollars and machines by state. A zero is there and does not shout.

import type { ReactNode } from 'react';
import { STATE_NAMES } from '../../../src/words.ts';
import { formatCount } from '../lib/format.ts';
import { Bar } from './bars.tsx';
import { Legend, Money } from './marks.tsx';
import { Card } from './page.tsx';
import { type Column, Table, type TableProps } from './table.tsx';

/** One row per component, as wide as the page. */
export function StatesTableCard<R>({
  title,
  note,
  ...table
}: TableProps<R> & { readonly title: ReactNode; readonly note?: ReactNode }): ReactNode {
  return (
    <Card
      isFlush
      title={title}
      note={note}
      aside={<Legend label="States" items={STATE_NAMES.map((name) => ({ name }))} />}
    >
      <Table {...table} />
    </Card>
  );
}

type Look<R> = Pick<Column<R>, 'id' | 'title'> & Partial<Pick<Column<R>, 'width' | 'hint'>>;

export function countColumn<R>(
  look: Look<R>,
  of: (row: R) => number,
  /** Around the count: a link to what was counted. */
  wrap?: (count: ReactNode, row: R) => ReactNode,
): Column<R> {
  return {
    width: '84px',
    ...look,
    align: 'right',
    cell: (row) => {
      const count = of(row);
      if (count === 0) return <span className="num faint">0</span>;
      const text = <span className="num">{formatCount(count)}</span>;
      return wrap === undefined ? text : wrap(text, row);
    },
    compare: (a, b) => of(a) - of(b),
  };
}

export function dollarsColumn<R>(of: (row: R) => number): Column<R> {
  return {
    id: 'dollars',
    title: '$/h',
    width: '84px',
    align: 'right',
    cell: (row) => (
      <span className={of(row) === 0 ? 'faint' : undefined}>
        <Money dollars={of(row)} />
      </span>
    ),
    compare: (a, b) => of(a) - of(b),
  };
}

/** Machines by state as one bar; counts in the order of the states. */
export function statesColumn<R>(of: (row: R) => readonly number[], width: string): Column<R> {
  return {
    id: 'states',
    title: 'By state',
    width,
    cell: (row) => (
      <Bar
        label="Machines by state"
        parts={of(row).map((value, index) => ({ name: STATE_NAMES[index] ?? '', value }))}
      />
    ),
  };
}
