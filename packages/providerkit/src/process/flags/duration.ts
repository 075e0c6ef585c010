// Durations as flags spell them: `45s`, `5m`, `1h30m`, `250ms`, and `0`. A bare number is refused:
// nobody can tell whether 30 means seconds or minutes, and both readings have caused outages.

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const WHOLE = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+$/;
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g;
/** A year: beyond it a value is a typo. */
const MAX_MS = 366 * 24 * 3_600_000;

/** Milliseconds, or undefined when the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0;
  if (!WHOLE.test(text)) return undefined;
  let totalMs = 0;
  for (const [, amount, unit] of text.matchAll(PART)) {
    totalMs += Number(amount) * (UNITS_MS[unit ?? ''] ?? Number.NaN);
  }
  return totalMs <= MAX_MS ? totalMs : undefined;
}

/** The shortest spelling of whole milliseconds: `5m`, `1h30m`, `0`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0';
  let restMs = ms;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms']) {
    const unitMs = UNITS_MS[unit] ?? 1;
    const count = Math.floor(restMs / unitMs);
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * unitMs;
  }
  return text;
}
