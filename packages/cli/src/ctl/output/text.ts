// Values as people read them, the same in every verb: times RFC 3339 in UTC, ages in one or two
// units, dollars with two places, resources in the order of their names. Text of servers is cleaned on
// its way to a terminal: an escape sequence in a name, an error or a reason could repaint the screen
// or retitle the window, and a line break would forge a row.

import { bucketLabel, compareText, decodePenaltyBucket } from '@bigfleet/base';
import { nearestName } from '@bigfleet/process/flags';

/** An em dash, for an empty cell and for a missing time. */
export const NOTHING = '—';
const CONTROL = /[\p{Cc}\u2028\u2029]/gu;

const NANOS_PER_MS = 1_000_000n;
const MS_PER_SECOND = 1_000;
const UNITS: readonly (readonly [name: string, seconds: number])[] = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
];

/** Undefined for 0, which the wire uses for never, and for what no calendar can show. */
export function utcTime(unixNanos: bigint): string | undefined {
  if (unixNanos <= 0n) return undefined;
  const date = new Date(Number(unixNanos / NANOS_PER_MS));
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** `42s`, `3m10s`, `2h5m`, `4d6h`; a moment ahead of the clock is `0s`. */
export function ageText(unixNanos: bigint, nowUnixNanos: bigint): string {
  if (unixNanos <= 0n) return NOTHING;
  return durationText(Number((nowUnixNanos - unixNanos) / NANOS_PER_MS));
}

export function durationText(ms: number): string {
  let seconds = Math.max(0, Math.floor(ms / MS_PER_SECOND));
  const parts: string[] = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count > 0) parts.push(`${count}${name}`);
    // The second unit is the next smaller one, or nothing: 4d2s would say more than it knows.
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.length === 0 ? '0s' : parts.join('');
}

/** `380ms`, `1.25s`, `0.042ms`: of what is measured in parts of a second. */
export function secondsText(seconds: number): string {
  const [value, unit] = seconds < 1 ? [seconds * MS_PER_SECOND, 'ms'] : [seconds, 's'];
  return `${Number(value.toPrecision(3))}${unit}`;
}

export function dollarsText(dollars: number): string {
  if (!Number.isFinite(dollars)) return dollars === Number.POSITIVE_INFINITY ? 'never' : NOTHING;
  return `$${dollars.toFixed(2)}`;
}

/** `cpu=4,memory=16Gi`, sorted. */
export function pairsText(pairs: Readonly<Record<string, string | number>>): string {
  return Object.entries(pairs)
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

export function countText(count: number): string {
  return count.toLocaleString('en-US');
}

/** Control characters in their escaped spelling, everything else as it is. */
export function cleanText(text: string): string {
  return text.replace(CONTROL, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** A wire enum's value in lower case and without the type's prefix. */
export function enumName(values: Readonly<Record<string, unknown>>, value: number): string {
  const found = Object.entries(values).find(([, number]) => number === value);
  // A newer server may know more than this build.
  return found === undefined ? `unknown(${value})` : found[0].toLowerCase();
}

/** A penalty bucket as dollars; a bucket of a newer server keeps its number. */
export function penaltyText(wireValue: number): string {
  const bucket = decodePenaltyBucket(wireValue);
  return bucket === undefined ? `bucket(${wireValue})` : bucketLabel(bucket);
}

/** For a name that is not among the known ones. */
export function nameHint(known: Iterable<string>, given: string, otherwise: string): string {
  const near = nearestName(known, given);
  return near === undefined ? otherwise : `did you mean ${near}?`;
}
