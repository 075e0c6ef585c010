// The moment that every page shows. At its right end it is live; anywhere else the pages show what was
// recorded then. The line behind it is the spending, the ticks are decisions.

import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import type { Frame } from '../../../src/api/common.ts';
import { after, every } from '../browser.ts';
import { Canvas, type Draw } from '../charts/canvas.tsx';
import { formatClock, formatDuration, formatMoment } from '../lib/format.ts';
import { useAt, useSetAt } from '../nav/link.tsx';
import { lookOf } from '../parts/palette.ts';
import { useConnection, useDecisions, useTick, useView } from '../store/hooks.ts';
import { draggedTo, playedTo, steppedTo, type TimeRange, windowOf, WINDOWS } from './time-range.ts';

const PLAY_MS = 500;
const SPEEDS = [1, 10, 60] as const;
/** How far back a replay from live begins. */
const REPLAY_MS = 5 * 60_000;
const MARKS_AFTER_MS = 1_500;
const MARKS = 1_000;
/** Room for the handle at the right end. */
const END_PX = 8;

export function TimeBar({ frame }: { readonly frame: Frame | undefined }): ReactNode {
  const at = useAt();
  const setAt = useSetAt();
  const tickMs = useTick();
  const isLive = useConnection().state === 'live';
  const [span, setSpan] = useState<number>(WINDOWS[1].ms);
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(SPEEDS[1]);
  const range = windowOf(frame?.oldestMs ?? tickMs, tickMs, span);
  const shownMs = at === 0 ? range.toMs : at;

  const set = useCallback((next: number) => setAt(next, { replace: true }), [setAt]);
  const latest = useRef({ at, range });
  useEffect(() => {
    latest.current = { at, range };
  });
  useEffect(() => {
    if (!isPlaying) return undefined;
    return every(PLAY_MS, () => {
      const { at: from, range: within } = latest.current;
      const next = playedTo(from, PLAY_MS * speed, within);
      set(next);
      if (next === 0) setPlaying(false);
    });
  }, [isPlaying, speed, set]);

  const goLive = (): void => {
    setPlaying(false);
    setAt(0);
  };
  const togglePlay = (): void => {
    if (!isPlaying && at === 0) set(Math.ceil(Math.max(range.oldestMs, range.toMs - REPLAY_MS)));
    setPlaying(!isPlaying);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const next = steppedTo(event.key, shownMs, range);
    if (next === null) return;
    event.preventDefault();
    setPlaying(false);
    set(next);
  };

  return (
    <footer className={at === 0 ? 'time-bar' : 'time-bar time-bar-past'}>
      <button
        type="button"
        className="icon plain"
        aria-label={
          isPlaying ? 'Pause the replay' : at === 0 ? 'Replay the last minutes' : 'Play from here'
        }
        onClick={togglePlay}
      >
        <svg width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
          <path
            d={isPlaying ? 'M2.5 1.5h2.5v9H2.5Zm4.5 0h2.5v9H7Z' : 'M2.5 1v10l8-5Z'}
            fill="currentColor"
          />
        </svg>
      </button>
      <label className="time-speed">
        <span className="visually-hidden">Speed of the replay</span>
        <select value={speed} onChange={(event) => setSpeed(Number(event.target.value))}>
          {SPEEDS.map((times) => (
            <option key={times} value={times}>
              {times}×
            </option>
          ))}
        </select>
      </label>
      <span className="time-edge num" title={`The line begins at ${formatMoment(range.fromMs)}`}>
        {formatClock(range.fromMs)}
      </span>
      <div
        className="time-track"
        role="slider"
        tabIndex={0}
        aria-label="Moment shown"
        aria-valuemin={Math.round(range.fromMs)}
        aria-valuemax={Math.round(range.toMs)}
        aria-valuenow={Math.round(Math.min(Math.max(shownMs, range.fromMs), range.toMs))}
        aria-valuetext={at === 0 ? 'live' : formatMoment(at)}
        onKeyDown={onKeyDown}
      >
        <Track
          range={range}
          atMs={at}
          onPick={(next) => {
            setPlaying(false);
            set(next);
          }}
        />
      </div>
      <span className="time-shown num">
        {at === 0 ? formatClock(tickMs) : formatMoment(at)}
        {at === 0 ? null : <span className="faint"> {formatDuration(tickMs - at)} ago</span>}
      </span>
      <label className="time-speed">
        <span className="visually-hidden">Length of the time line</span>
        <select value={span} onChange={(event) => setSpan(Number(event.target.value))}>
          {WINDOWS.map((item) => (
            <option key={item.label} value={item.ms}>
              {item.label}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        className={at !== 0 ? 'primary' : isLive ? 'live-on' : undefined}
        onClick={goLive}
        aria-pressed={at === 0}
      >
        Live
      </button>
    </footer>
  );
}

function Track({
  range,
  atMs,
  onPick,
}: {
  readonly range: TimeRange;
  readonly atMs: number;
  readonly onPick: (atMs: number) => void;
}): ReactNode {
  const spending = useView('now', {}).answer?.spending;
  const marks = useMarks();
  const width = useRef(0);
  const isDragging = useRef(false);
  const draw = useCallback<Draw>(
    (context, size, colour) => {
      const room = size.width - END_PX;
      const x = (ms: number): number =>
        ((ms - range.fromMs) / Math.max(1, range.toMs - range.fromMs)) * room;
      const base = size.height - 9;
      if (spending !== undefined) {
        const { startMs, stepMs, dollarsPerHour } = spending;
        const seen = dollarsPerHour.filter((value) => value !== null);
        const high = seen.reduce((a, b) => Math.max(a, b), 0) || 1;
        context.beginPath();
        let lastY = -1;
        dollarsPerHour.forEach((value, index) => {
          const px = x(startMs + index * stepMs);
          if (value === null || px < -room || px > room) return;
          const py = base - (value / high) * (base - 4);
          if (lastY < 0) context.moveTo(px, base);
          else context.lineTo(px, lastY);
          context.lineTo(px, py);
          lastY = py;
        });
        // Each value holds until the next.
        if (lastY >= 0) context.lineTo(room, lastY);
        context.lineTo(room, base);
        context.fillStyle = colour('--sunken');
        context.fill();
      }
      context.fillStyle = colour('--line-strong');
      context.fillRect(0, base, room, 1);
      for (const mark of marks) {
        const px = x(mark.atMs);
        if (px < 0 || px > room) continue;
        context.fillStyle = colour(mark.token);
        context.fillRect(Math.round(px), base + 1, 1, mark.isLoud ? 7 : 4);
      }
      const handle = atMs === 0 ? room : Math.min(Math.max(x(atMs), 1), room);
      context.fillStyle = colour(atMs === 0 ? '--good' : '--accent');
      context.fillRect(handle - 1, 0, 2, size.height);
      context.beginPath();
      context.arc(handle, base, 5, 0, Math.PI * 2);
      context.fill();
    },
    [range.fromMs, range.toMs, spending, marks, atMs],
  );
  const pick = (x: number): void => onPick(draggedTo(x / Math.max(1, width.current), range));
  return (
    <Canvas
      draw={draw}
      label="Spending and decisions over time"
      cursor="ew-resize"
      onSize={useCallback((size) => {
        width.current = size.width - END_PX;
      }, [])}
      onDown={(x, _, event: PointerEvent<HTMLCanvasElement>) => {
        isDragging.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        pick(x);
      }}
      onMove={(x) => {
        if (isDragging.current) pick(x);
      }}
      onUp={() => {
        isDragging.current = false;
      }}
    />
  );
}

interface TimeMark {
  readonly atMs: number;
  readonly token: string;
  readonly isLoud: boolean;
}

/** Decisions of before are asked once, after the page has painted; new ones come by themselves. */
function useMarks(): readonly TimeMark[] {
  const live = useDecisions();
  const [isAsked, setAsked] = useState(false);
  const [askedAt, setAskedAt] = useState(0);
  const newestMs = useView('now', {}).answer?.frame.atMs ?? 0;
  useEffect(() => after(MARKS_AFTER_MS, () => setAsked(true)), []);
  if (isAsked && askedAt === 0 && newestMs > 0) setAskedAt(newestMs);
  const before = useView('decisions', askedAt === 0 ? null : { at: askedAt, limit: MARKS });
  return useMemo(
    () =>
      [...live, ...(before.answer?.decisions ?? [])].map((decision) => ({
        atMs: decision.atMs,
        token: lookOf(decision.kind).token,
        isLoud: decision.kind === 'Preempt',
      })),
    [live, before.answer],
  );
}
