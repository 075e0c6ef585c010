// Counts and dollars in two directions, as a real table: shade says where the money is, the cell's text says
// how much. Rows and columns without a machine are left out by the caller.

import type { ReactNode } from 'react';
import { formatCents, formatCount, formatDollars } from '../lib/format.ts';
import './matrix.css';

export interface MatrixCell {
  readonly count: number;
  readonly dollarsPerHour: number;
  /** Why the cell is marked; empty when it is not. */
  readonly flag: string;
}

export interface MatrixProps {
  readonly caption: string;
  readonly corner: string;
  readonly rows: readonly { readonly key: string; readonly label: ReactNode }[];
  readonly columns: readonly { readonly key: string; readonly label: ReactNode }[];
  readonly cell: (row: number, column: number) => MatrixCell;
}

export function Matrix({ caption, corner, rows, columns, cell }: MatrixProps): ReactNode {
  let largest = 0;
  for (const [row] of rows.entries()) {
    for (const [column] of columns.entries()) {
      largest = Math.max(largest, cell(row, column).dollarsPerHour);
    }
  }
  return (
    <div className="matrix-scroll">
      <table className="matrix">
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{corner}</th>
            {columns.map(({ key, label }) => (
              <th key={key} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, label }, row) => (
            <tr key={key}>
              <th scope="row">{label}</th>
              {columns.map((column, at) => (
                <Cell key={column.key} cell={cell(row, at)} largest={largest} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell({
  cell,
  largest,
}: {
  readonly cell: MatrixCell;
  readonly largest: number;
}): ReactNode {
  const { count, dollarsPerHour, flag } = cell;
  if (count === 0) return <td className="matrix-none">–</td>;
  // Half of the ramp at most: text stays readable on every shade, in both themes.
  const shade = largest === 0 ? 0 : 6 + 36 * Math.sqrt(dollarsPerHour / largest);
  return (
    <td
      className={flag === '' ? undefined : 'matrix-flagged'}
      style={{ '--shade': `${shade}%` } as React.CSSProperties}
      title={flag === '' ? formatCents(dollarsPerHour) : flag}
    >
      <span className="matrix-count">{formatCount(count)}</span>
      <span className="matrix-money">{formatDollars(dollarsPerHour)}/h</span>
      {flag !== '' && <span className="visually-hidden">{flag}</span>}
    </td>
  );
}
