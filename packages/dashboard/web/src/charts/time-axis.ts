// Times along a line: where they stand, and which of them are written under it.

import { scaleTime } from 'd3-scale';
import { formatClock } from '../lib/format.ts';

export interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

const MIN_SPAN_MS = 1_000;
const PX_PER_TICK = 110;

export function xOf(ms: number, span: TimeSpan, width: number): number {
  return ((ms - span.fromMs) / Math.max(1, span.toMs - span.fromMs)) * width;
}

export function msAt(x: number, span: TimeSpan, width: number): number {
  return Math.round(span.fromMs + (x / Math.max(1, width)) * (span.toMs - span.fromMs));
}

export function timeTicks(
  span: TimeSpan,
  width: number,
): readonly { readonly x: number; readonly label: string }[] {
  const scale = scaleTime()
    .domain([new Date(span.fromMs), new Date(span.toMs)])
    .range([0, width]);
  const isShort = span.toMs - span.fromMs < 10 * 60_000;
  return scale.ticks(Math.max(2, Math.floor(width / PX_PER_TICK))).map((tick) => ({
    x: scale(tick),
    label: isShort ? formatClock(tick.getTime()) : formatClock(tick.getTime()).slice(0, 5),
  }));
}

/** Narrower or wider around a point that keeps its place. Never into the future, never below a second. */
export function zoomed(span: TimeSpan, share: number, factor: number, newestMs: number): TimeSpan {
  const length = Math.max(MIN_SPAN_MS, (span.toMs - span.fromMs) * factor);
  const fixedMs = span.fromMs + share * (span.toMs - span.fromMs);
  const fromMs = Math.round(fixedMs - share * length);
  const toMs = Math.min(newestMs, Math.round(fromMs + length));
  return { fromMs: Math.max(0, Math.min(fromMs, toMs - MIN_SPAN_MS)), toMs };
}

export function panned(span: TimeSpan, share: number, newestMs: number): TimeSpan {
  const length = span.toMs - span.fromMs;
  const toMs = Math.min(newestMs, Math.round(span.toMs + share * length));
  return { fromMs: Math.max(0, toMs - length), toMs };
}
