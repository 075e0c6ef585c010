// The arithmetic of the time line: what it spans, and where a hand, a key or a replay goes. 0 is live.

export interface TimeRange {
  /** What the line spans. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The oldest moment that can be shown; a young dashboard's line begins before it. */
  readonly oldestMs: number;
}

const MINUTE_MS = 60_000;
export const WINDOWS = [
  { label: '5 min', ms: 5 * MINUTE_MS },
  { label: '1 h', ms: 60 * MINUTE_MS },
  { label: '6 h', ms: 360 * MINUTE_MS },
  { label: '24 h', ms: 1_440 * MINUTE_MS },
] as const;
const MIN_SPAN_MS = MINUTE_MS;
const STEP_MS = 1_000;
/** Nearer to the right end than this is live. */
const LIVE_SHARE = 0.995;

/** Never further back than is kept, and never shorter than a minute: a new dashboard has no past yet. */
export function windowOf(oldestMs: number, nowMs: number, spanMs: number): TimeRange {
  const fromMs = Math.max(oldestMs, nowMs - spanMs);
  return {
    fromMs: Math.min(fromMs, nowMs - MIN_SPAN_MS),
    toMs: nowMs,
    oldestMs: Math.min(fromMs, nowMs),
  };
}

export function draggedTo(share: number, range: TimeRange): number {
  if (share >= LIVE_SHARE) return 0;
  return clamped(range.fromMs + share * (range.toMs - range.fromMs), range);
}

/** Null for a key that means nothing here. */
export function steppedTo(key: string, shownMs: number, range: TimeRange): number | null {
  switch (key) {
    case 'ArrowLeft':
    case 'ArrowDown':
      return clamped(shownMs - STEP_MS, range);
    case 'ArrowRight':
    case 'ArrowUp':
      return clamped(shownMs + STEP_MS, range);
    case 'PageDown':
      return clamped(shownMs - MINUTE_MS, range);
    case 'PageUp':
      return clamped(shownMs + MINUTE_MS, range);
    case 'Home':
      return clamped(range.oldestMs, range);
    case 'End':
      return 0;
    default:
      return null;
  }
}

export function playedTo(atMs: number, byMs: number, range: TimeRange): number {
  return atMs === 0 ? 0 : clamped(atMs + byMs, range);
}

function clamped(ms: number, range: TimeRange): number {
  if (ms >= range.toMs) return 0;
  return Math.ceil(Math.max(ms, range.oldestMs));
}
