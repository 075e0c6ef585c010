// The small parts that carry one fact each: a state, a sum, a moment.

import { type ReactNode, useState } from 'react';
import {
  formatAgo,
  formatCents,
  formatCount,
  formatDifference,
  formatDollars,
  formatFull,
  formatMoment,
} from '../lib/format.ts';
import { To, useAt } from '../nav/link.tsx';
import { useTick } from '../store/hooks.ts';
import { type Look, lookOf } from './palette.ts';

/** The shape of a state, capacity type, action or tier, in its colour. Decoration: the word stands beside it. */
function Glyph({ look, size = 12 }: { readonly look: Look; readonly size?: number }): ReactNode {
  const { solid, line } = look.shape;
  return (
    <svg className="glyph" width={size} height={size} viewBox="0 0 12 12" aria-hidden="true">
      {line !== undefined && (
        <path
          d={line}
          fill="none"
          stroke={`var(${look.token})`}
          strokeWidth="1.75"
          strokeLinecap="round"
        />
      )}
      {solid !== undefined && <path d={solid} fill={`var(${look.token})`} />}
    </svg>
  );
}

/** A state, capacity type, action kind or tier by its API name: shape, colour and word. */
export function Mark({
  name,
  isQuiet = false,
}: {
  readonly name: string;
  /** Only the shape is seen; the word is left to screen readers and the title. */
  readonly isQuiet?: boolean;
}): ReactNode {
  const look = lookOf(name);
  return (
    <span className="mark" title={isQuiet ? look.label : undefined}>
      <Glyph look={look} />
      <span className={isQuiet ? 'visually-hidden' : undefined}>{look.label}</span>
    </span>
  );
}

/**
 * The name of a machine, a need's gang, a node. Names of one fleet begin alike and differ at their end, so
 * a narrow place cuts the beginning. The document holds the whole name: for the title, screen readers and
 * copying.
 */
export function Id({ text }: { readonly text: string }): ReactNode {
  return (
    <span className="id" title={text}>
      <bdi>{text}</bdi>
    </span>
  );
}

/** A machine by its id, leading to its explanation. */
export function MachineLink({
  machine,
  cycle = 0,
}: {
  readonly machine: string;
  /** Explained as of this cycle; the newest that mentions it when absent. */
  readonly cycle?: number;
}): ReactNode {
  return (
    <To page="explain" search={{ machine, cycle }} className="id" title={machine}>
      <bdi>{machine}</bdi>
    </To>
  );
}

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent' | 'sim';

export function Tag({
  tone = 'neutral',
  title,
  children,
}: {
  readonly tone?: Tone;
  readonly title?: string | undefined;
  readonly children: ReactNode;
}): ReactNode {
  return (
    <span className={`tag tag-${tone}`} title={title}>
      {children}
    </span>
  );
}

/** Dollars. `exact` is to the cent; otherwise cents only below a thousand, the exact sum in the title. */
export function Money({
  dollars,
  per,
  exact = false,
  sign = false,
}: {
  /** Null is infinite: excluded by a pinned need. */
  readonly dollars: number | null;
  readonly per?: 'h' | undefined;
  readonly exact?: boolean;
  /** Show a plus before a rise. */
  readonly sign?: boolean;
}): ReactNode {
  if (dollars === null)
    return (
      <span className="num faint" title="excluded: the penalty is infinite">
        ∞
      </span>
    );
  const format = exact ? formatCents : formatDollars;
  return (
    <span className="num" title={exact ? undefined : formatCents(dollars)}>
      {sign ? formatDifference(dollars, format) : format(dollars)}
      {per === undefined ? null : <span className="unit">/{per}</span>}
    </span>
  );
}

/** How long ago, seen from the moment that is shown; the full date in the title. */
export function When({
  atMs,
  absolute = false,
}: {
  readonly atMs: number | null;
  /** Show the clock instead of the age. */
  readonly absolute?: boolean;
}): ReactNode {
  if (atMs === null || atMs === 0) return <span className="faint">never</span>;
  return absolute ? (
    <time className="num" dateTime={iso(atMs)} title={formatFull(atMs)}>
      {formatMoment(atMs)}
    </time>
  ) : (
    <Age atMs={atMs} />
  );
}

function Age({ atMs }: { readonly atMs: number }): ReactNode {
  const tickMs = useTick();
  const shownMs = useAt();
  return (
    <time className="num" dateTime={iso(atMs)} title={formatFull(atMs)}>
      {formatAgo(atMs, shownMs === 0 ? tickMs : shownMs)}
    </time>
  );
}

function iso(atMs: number): string {
  return Number.isFinite(atMs) && Math.abs(atMs) <= 8.64e15 ? new Date(atMs).toISOString() : '';
}

/** One figure of a page: how many, and what it costs. */
export function Stat({
  label,
  value,
  dollarsPerHour,
  note,
  tone = 'neutral',
  size = 'normal',
  children,
}: {
  readonly label: ReactNode;
  readonly value: ReactNode;
  readonly dollarsPerHour?: number | undefined;
  readonly note?: ReactNode;
  readonly tone?: Tone;
  readonly size?: 'normal' | 'large';
  /** Under the figure: a sparkline, a bar. */
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className={`stat stat-${size} stat-${tone}`}>
      <div className="stat-label">{label}</div>
      <div className="stat-line">
        <span className="stat-value num">
          {typeof value === 'number' ? formatCount(value) : value}
        </span>
        {dollarsPerHour === undefined || value === 0 ? null : (
          <span className="stat-money">
            <Money dollars={dollarsPerHour} per="h" />
          </span>
        )}
        {note === undefined ? null : <span className="stat-note">{note}</span>}
      </div>
      {children}
    </div>
  );
}

export interface LegendItem {
  /** API name, or any word together with `token`. */
  readonly name: string;
  readonly token?: string;
  readonly count?: number;
  readonly dollarsPerHour?: number;
}

export function Legend({
  items,
  label,
}: {
  readonly items: readonly LegendItem[];
  readonly label?: string;
}): ReactNode {
  return (
    <ul className="legend" aria-label={label}>
      {items.map((item) => (
        <li key={item.name} className={item.count === 0 ? 'legend-none' : undefined}>
          {item.token === undefined ? (
            <Mark name={item.name} />
          ) : (
            <span className="mark">
              <span className="swatch" style={{ background: `var(${item.token})` }} />
              {item.name}
            </span>
          )}
          {item.count === undefined ? null : (
            <span className="num legend-count">{formatCount(item.count)}</span>
          )}
          {item.dollarsPerHour === undefined || item.count === 0 ? null : (
            <span className="faint">
              <Money dollars={item.dollarsPerHour} per="h" />
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** Copies the address of what is shown: every filter, selection and moment is in it. */
export function CopyLink({ label = 'Copy link' }: { readonly label?: string }): ReactNode {
  return <CopyText label={label} text={() => location.href} />;
}

export function CopyText({
  label,
  text,
}: {
  readonly label: string;
  readonly text: () => string;
}): ReactNode {
  const [state, setState] = useState<'rest' | 'copied' | 'failed'>('rest');
  const copy = (): void => {
    // Only pages over HTTPS or from this machine have a clipboard.
    const clipboard = navigator.clipboard as Clipboard | undefined;
    if (clipboard === undefined) return setState('failed');
    clipboard.writeText(text()).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  return (
    <button type="button" onClick={copy} onBlur={() => setState('rest')} aria-live="polite">
      {state === 'copied' ? 'Copied' : state === 'failed' ? 'Copy from the address bar' : label}
    </button>
  );
}
