// Where records begin or end: a cycle (`1204`), a moment (`2026-01-01T10:00:00Z`) or so long ago
// (`15m`).

import { err, ok, type Result } from '@bigfleet/base';
import { type Flag, parseDuration } from '@bigfleet/process/flags';

export type RecordBound =
  | { readonly kind: 'open' }
  | { readonly kind: 'cycle'; readonly cycle: bigint }
  | { readonly kind: 'moment'; readonly unixNanos: bigint }
  | { readonly kind: 'ago'; readonly ms: number };

const NANOS_PER_MS = 1_000_000n;
const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

export function recordBound(help: string): Flag<RecordBound> {
  return { fallback: '', help, form: '<cycle|time|duration>', parse: parseBound };
}

function parseBound(text: string): Result<RecordBound, string> {
  if (text === '') return ok({ kind: 'open' });
  if (/^\d{1,18}$/.test(text)) return ok({ kind: 'cycle', cycle: BigInt(text) });
  const ms = MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ok({ kind: 'moment', unixNanos: BigInt(ms) * NANOS_PER_MS });
  const ago = parseDuration(text);
  if (ago.ok) return ok({ kind: 'ago', ms: ago.value });
  return err('write a cycle (1204), a time (2026-01-01T10:00:00Z) or how long ago (15m)');
}

export interface RecordRangeRequest {
  readonly fromCycle: bigint;
  readonly toCycle: bigint;
  readonly fromUnixNanos: bigint;
  readonly toUnixNanos: bigint;
}

export function rangeRequest(
  from: RecordBound,
  to: RecordBound,
  nowUnixNanos: bigint,
): RecordRangeRequest {
  return {
    fromCycle: from.kind === 'cycle' ? from.cycle : 0n,
    toCycle: to.kind === 'cycle' ? to.cycle : 0n,
    fromUnixNanos: momentOf(from, nowUnixNanos),
    toUnixNanos: momentOf(to, nowUnixNanos),
  };
}

function momentOf(bound: RecordBound, nowUnixNanos: bigint): bigint {
  if (bound.kind === 'moment') return bound.unixNanos;
  return bound.kind === 'ago' ? nowUnixNanos - BigInt(Math.round(bound.ms)) * NANOS_PER_MS : 0n;
}
