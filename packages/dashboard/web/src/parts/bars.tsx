// Small pictures that fit a table row or a card: a stacked bar, a sparkline, a ranked list of bars.

import type { ReactNode } from 'react';
import { formatCents, formatCount, formatDollars } from '../lib/format.ts';
import { lookOf } from './palette.ts';

export interface BarPart {
  /** API name of a state, type, kind or tier, or any word together with `token`. */
  readonly name: string;
  readonly value: number;
  readonly token?: string;
  readonly title?: string;
}

/** Parts of a whole, side by side. Thin gaps keep neighbours apart without relying on hue. */
export function Bar({
  parts,
  label,
  height = 8,
  total,
  format = formatCount,
}: {
  readonly parts: readonly BarPart[];
  /** For screen readers, before the parts. */
  readonly label: string;
  readonly height?: number;
  /** Longer than the parts together: the rest stays empty. */
  readonly total?: number;
  /** How a value reads. */
  readonly format?: (value: number) => string;
}): ReactNode {
  const sum = total ?? parts.reduce((all, part) => all + part.value, 0);
  const shown = parts.filter((part) => part.value > 0);
  const words = shown.map((part) => `${part.name} ${format(part.value)}`).join(', ');
  return (
    <div className="bar" style={{ height }} role="img" aria-label={`${label}: ${words || 'none'}`}>
      {shown.map((part) => (
        <span
          key={part.name}
          title={part.title ?? `${part.name}: ${format(part.value)}`}
          style={{
            flexGrow: part.value / (sum || 1),
            background: `var(${part.token ?? lookOf(part.name).token})`,
          }}
        />
      ))}
      {total === undefined || total <= 0 ? null : (
        <span
          className="bar-rest"
          style={{ flexGrow: Math.max(0, 1 - shown.reduce((a, p) => a + p.value, 0) / total) }}
        />
      )}
    </div>
  );
}

/** One line over time; gaps where nothing was seen. */
export function Sparkline({
  values,
  label,
  width = 120,
  height = 28,
  token = '--accent',
  isArea = true,
  fromZero = false,
  format = formatDollars,
}: {
  readonly values: readonly (number | null)[];
  readonly label: string;
  readonly width?: number;
  readonly height?: number;
  readonly token?: string;
  readonly isArea?: boolean;
  readonly fromZero?: boolean;
  /** How a value reads in the name for screen readers. */
  readonly format?: (value: number) => string;
}): ReactNode {
  const seen = values.filter((value) => value !== null);
  if (seen.length < 2) {
    return (
      <svg
        className="sparkline"
        width={width}
        height={height}
        role="img"
        aria-label={`${label}: too few values yet`}
      >
        <line x1="0" x2={width} y1={height - 1} y2={height - 1} stroke="var(--line-strong)" />
      </svg>
    );
  }
  const low = fromZero ? 0 : Math.min(...seen);
  const high = Math.max(...seen);
  const span = high - low || 1;
  const step = width / Math.max(1, values.length - 1);
  const y = (value: number): number =>
    high === low ? height / 2 : 2 + (height - 4) * (1 - (value - low) / span);
  let line = '';
  let area = '';
  let runStart = -1;
  values.forEach((value, index) => {
    const x = (index * step).toFixed(1);
    if (value !== null) {
      const point = `${x} ${y(value).toFixed(1)}`;
      if (runStart < 0) {
        runStart = index;
        line += `M${point}`;
        area += `M${x} ${height}L${point}`;
      } else {
        line += `L${point}`;
        area += `L${point}`;
      }
    }
    const isRunEnd = runStart >= 0 && (value === null || index === values.length - 1);
    if (isRunEnd) {
      const last = value === null ? index - 1 : index;
      area += `L${(last * step).toFixed(1)} ${height}Z`;
      runStart = -1;
    }
  });
  return (
    <svg
      className="sparkline"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`${label}: from ${format(low)} to ${format(high)}`}
    >
      {isArea ? <path d={area} fill={`var(${token})`} opacity="0.12" /> : null}
      <path
        d={line}
        fill="none"
        stroke={`var(${token})`}
        strokeWidth="1.5"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
}

export interface RankRow {
  readonly name: string;
  readonly label?: ReactNode;
  readonly count?: number;
  readonly dollarsPerHour: number;
  readonly token?: string;
}

/** Names with their dollars and counts, longest first, as bars behind the text. */
export function Ranked({
  rows,
  label,
  limit = 12,
}: {
  readonly rows: readonly RankRow[];
  readonly label: string;
  readonly limit?: number;
}): ReactNode {
  const most = rows.reduce((max, row) => Math.max(max, row.dollarsPerHour), 0) || 1;
  return (
    <ul className="ranked" aria-label={label}>
      {rows.slice(0, limit).map((row) => (
        <li key={row.name} className={isNothing(row) ? 'ranked-none' : undefined}>
          <span
            className="ranked-bar"
            style={{
              width: `${(100 * row.dollarsPerHour) / most}%`,
              background: `var(${row.token ?? '--ramp-1'})`,
            }}
          />
          <span className="ranked-name cut">{row.label ?? row.name}</span>
          {row.count === undefined ? null : (
            <span className="num soft">{formatCount(row.count)}</span>
          )}
          <span className="num ranked-money" title={formatCents(row.dollarsPerHour)}>
            {formatDollars(row.dollarsPerHour)}
            <span className="unit">/h</span>
          </span>
        </li>
      ))}
      {rows.length > limit ? (
        <li className="faint">and {formatCount(rows.length - limit)} more</li>
      ) : null}
    </ul>
  );
}

function isNothing({ count, dollarsPerHour }: RankRow): boolean {
  return dollarsPerHour === 0 && (count ?? 0) === 0;
}
