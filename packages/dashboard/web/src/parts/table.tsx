// Rows and columns: sorted by a click on a heading, walked by arrow keys, opened by Enter. Above 150 rows
// only those in sight are in the document. Rows are bounded by the server, so the foot says how many exist.

import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type ReactNode,
  useCallback,
  useId,
  useMemo,
  useRef,
  useState,
} from 'react';
import { formatCount } from '../lib/format.ts';
import { Segmented } from './controls.tsx';
import { EmptyState } from './states.tsx';

const VIRTUAL_FROM = 150;
const ROW_HEIGHT = 32;
const PAGE_ROWS = 12;

export interface Column<R> {
  readonly id: string;
  readonly title: string;
  /** A track of a CSS grid; `minmax(80px, 1fr)` when absent. */
  readonly width?: string;
  readonly align?: 'left' | 'right';
  readonly cell: (row: R) => ReactNode;
  /** Makes the column sortable. */
  readonly compare?: (a: R, b: R) => number;
  /** What the column means, as the heading's title. */
  readonly hint?: string;
}

/** Compares rows by one of their values, for `compare`. */
export const by =
  <R, T extends number | string>(of: (row: R) => T) =>
  (a: R, b: R): number =>
    of(a) < of(b) ? -1 : of(a) > of(b) ? 1 : 0;

export interface Order {
  readonly column: string;
  readonly isDown: boolean;
}

export interface TableProps<R> {
  readonly label: string;
  readonly rows: readonly R[];
  readonly columns: readonly Column<R>[];
  readonly rowKey: (row: R) => string;
  /** How many exist; the rows when absent. */
  readonly total?: number;
  /** What one row is, in the plural: for the foot and for the empty table. */
  readonly noun: string;
  /** Controlled order, for a URL; the table's own when absent. */
  readonly order?: Order | null;
  readonly onOrder?: (order: Order) => void;
  /** The rows come sorted by the server: headings only tell `onOrder`. */
  readonly isServerSorted?: boolean;
  /** Click or Enter on a row. */
  readonly onOpen?: (row: R) => void;
  readonly selectedKey?: string | null;
  readonly rowClass?: (row: R) => string | undefined;
  /** CSS height at most; the table scrolls inside. */
  readonly maxHeight?: string;
  readonly empty?: ReactNode;
}

export function Table<R>(props: TableProps<R>): ReactNode {
  const { rows, columns, rowKey, onOpen, noun } = props;
  const [ownOrder, setOwnOrder] = useState<Order | null>(null);
  const order = props.order === undefined ? ownOrder : props.order;
  const sorted = useSorted(rows, columns, order, props.isServerSorted ?? false);
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState(-1);
  const id = useId();
  const isVirtual = sorted.length > VIRTUAL_FROM;
  const virtual = useVirtualizer({
    count: sorted.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
    enabled: isVirtual,
    scrollMargin: ROW_HEIGHT,
  });
  const template = columns.map((column) => column.width ?? 'minmax(80px, 1fr)').join(' ');

  const setOrder = (column: Column<R>): void => {
    const isSame = order?.column === column.id;
    const next = { column: column.id, isDown: isSame ? !order.isDown : column.align === 'right' };
    if (props.onOrder === undefined) setOwnOrder(next);
    else props.onOrder(next);
  };

  const moveTo = useCallback(
    (index: number) => {
      const to = Math.max(0, Math.min(sorted.length - 1, index));
      setActive(to);
      if (isVirtual) virtual.scrollToIndex(to, { align: 'auto' });
      else document.getElementById(`${id}-${to}`)?.scrollIntoView({ block: 'nearest' });
    },
    [sorted.length, isVirtual, virtual, id],
  );
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>): void => {
    if (event.target !== event.currentTarget) return;
    const step = STEPS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      moveTo(step(Math.max(active, 0), sorted.length));
    } else if (event.key === 'Enter' && onOpen !== undefined) {
      const row = sorted[active];
      if (row !== undefined) onOpen(row);
    }
  };

  if (sorted.length === 0) {
    return props.empty ?? <EmptyState title={`No ${noun}`} />;
  }

  const renderRow = (index: number, top?: number): ReactNode => {
    const row = sorted[index];
    if (row === undefined) return null;
    const key = rowKey(row);
    const classes = [
      'table-row',
      onOpen === undefined ? '' : 'table-row-open',
      index === active ? 'table-row-active' : '',
      key === props.selectedKey ? 'table-row-selected' : '',
      props.rowClass?.(row) ?? '',
    ];
    return (
      <div
        key={key}
        id={`${id}-${index}`}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={key === props.selectedKey ? true : undefined}
        className={classes.join(' ')}
        style={
          top === undefined
            ? { gridTemplateColumns: template }
            : { gridTemplateColumns: template, position: 'absolute', top, insetInline: 0 }
        }
        // The keyboard's way is the grid's own Enter.
        onClick={
          onOpen === undefined
            ? undefined
            : (event) => {
                setActive(index);
                // Marking text in a row, to copy it, is no click on the row.
                const isMarking = getSelection()?.isCollapsed === false;
                if (!isMarking && !(event.target as Element).closest('a, button')) onOpen(row);
              }
        }
      >
        {columns.map((column) => (
          <div
            key={column.id}
            role="gridcell"
            className={column.align === 'right' ? 'table-cell table-right' : 'table-cell'}
          >
            {cutContent(column.cell(row))}
          </div>
        ))}
      </div>
    );
  };

  const total = props.total ?? rows.length;
  return (
    <div className="table-frame">
      <div
        ref={scroller}
        className="table"
        role="grid"
        aria-label={props.label}
        aria-rowcount={total + 1}
        aria-colcount={columns.length}
        aria-activedescendant={active >= 0 ? `${id}-${active}` : undefined}
        tabIndex={0}
        onKeyDown={onKeyDown}
        style={{ maxHeight: props.maxHeight ?? (isVirtual ? '70vh' : undefined) }}
      >
        <div role="rowgroup" className="table-head">
          <div
            role="row"
            aria-rowindex={1}
            className="table-row"
            style={{ gridTemplateColumns: template }}
          >
            {columns.map((column) => (
              <Heading
                key={column.id}
                column={column}
                order={order}
                isSortable={column.compare !== undefined}
                onSort={() => setOrder(column)}
              />
            ))}
          </div>
        </div>
        <div
          role="rowgroup"
          style={isVirtual ? { position: 'relative', height: virtual.getTotalSize() } : undefined}
        >
          {isVirtual
            ? virtual
                .getVirtualItems()
                .map((item) => renderRow(item.index, item.start - ROW_HEIGHT))
            : sorted.map((_, index) => renderRow(index))}
        </div>
      </div>
      {total > rows.length || rows.length > VIRTUAL_FROM ? (
        <p className="table-foot num">
          {formatCount(rows.length)} of {formatCount(total)} {noun}
        </p>
      ) : null}
    </div>
  );
}

const LIMITS = ['500', '2000', '5000'] as const;

/** How many rows to ask for, where more exist than the least. */
export function RowLimit({
  total,
  limit,
  onLimit,
}: {
  readonly total: number;
  readonly limit: number;
  readonly onLimit: (limit: number) => void;
}): ReactNode {
  if (total <= Number(LIMITS[0])) return null;
  return (
    <Segmented
      label="Rows"
      value={LIMITS.find((each) => each === String(limit)) ?? '500'}
      options={LIMITS.map((value) => ({ value, label: formatCount(Number(value)) }))}
      onChange={(value) => onLimit(Number(value))}
    />
  );
}

/** Bare text in a cell is cut with an ellipsis only inside of an element. */
function cutContent(content: ReactNode): ReactNode {
  return typeof content === 'string' || typeof content === 'number' ? (
    <span>{content}</span>
  ) : (
    content
  );
}

const STEPS: Readonly<Record<string, (at: number, count: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  PageDown: (at) => at + PAGE_ROWS,
  PageUp: (at) => at - PAGE_ROWS,
  Home: () => 0,
  End: (_, count) => count - 1,
};

function Heading<R>({
  column,
  order,
  isSortable,
  onSort,
}: {
  readonly column: Column<R>;
  readonly order: Order | null;
  readonly isSortable: boolean;
  readonly onSort: () => void;
}): ReactNode {
  const isOrdered = order?.column === column.id;
  const sort = isOrdered ? (order.isDown ? 'descending' : 'ascending') : undefined;
  return (
    <div
      role="columnheader"
      aria-sort={sort}
      title={column.hint}
      className={column.align === 'right' ? 'table-cell table-right' : 'table-cell'}
    >
      {isSortable ? (
        <button type="button" className="table-sort" onClick={onSort}>
          {column.title}
          <span
            aria-hidden="true"
            className={isOrdered ? 'table-arrow' : 'table-arrow table-arrow-off'}
          >
            {isOrdered && order.isDown ? '↓' : '↑'}
          </span>
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}

function useSorted<R>(
  rows: readonly R[],
  columns: readonly Column<R>[],
  order: Order | null,
  isServerSorted: boolean,
): readonly R[] {
  return useMemo(() => {
    const compare = columns.find((column) => column.id === order?.column)?.compare;
    if (isServerSorted || order === null || compare === undefined) return rows;
    const sign = order.isDown ? -1 : 1;
    return [...rows].sort((a, b) => sign * compare(a, b));
  }, [rows, columns, order, isServerSorted]);
}
