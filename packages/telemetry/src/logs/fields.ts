// What a log field may hold, and how it is made safe. Only flat values: an arbitrary object would
// sooner or later carry a blob into the log. Lengths are bounded, because field values come from
// peers too. Bytes are never shown, whoever passes them.

import { assert, describeThrown } from '@bigfleet/base';
import { REDACTED, Secret } from './secret.ts';

export type LogScalar = string | number | bigint | boolean | null | undefined;

/** An Error is shown as its message; undefined leaves the field out. */
export type LogValue = LogScalar | Error | Secret<unknown> | readonly LogScalar[];

export type LogFields = Readonly<Record<string, LogValue>>;

/** What both formats print; a strict subset of JSON. */
export type PlainValue = string | number | boolean | null | readonly PlainScalar[];
type PlainScalar = string | number | boolean | null;

const KEY = /^[a-zA-Z][a-zA-Z0-9_.]*$/;
const RESERVED: ReadonlySet<string> = new Set(['time', 'level', 'msg']);
const MAX_TEXT_LENGTH = 4_096;
const MAX_ITEMS = 64;

export function plainFields(fields: LogFields): Record<string, PlainValue> {
  const plain: Record<string, PlainValue> = {};
  for (const [key, value] of Object.entries(fields)) {
    assert(KEY.test(key) && !RESERVED.has(key), 'log key not allowed', { key });
    if (value !== undefined) plain[key] = plainValue(value);
  }
  return plain;
}

/** Bounded, and well-formed UTF-16, so that what is written is what was meant. */
export function plainText(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= MAX_TEXT_LENGTH) return whole;
  const kept = whole.slice(0, MAX_TEXT_LENGTH).toWellFormed();
  return `${kept}…(+${whole.length - MAX_TEXT_LENGTH} chars)`;
}

function plainValue(value: Exclude<LogValue, undefined>): PlainValue {
  if (!Array.isArray(value)) return plainScalar(value);
  const items = value.slice(0, MAX_ITEMS).map(plainScalar);
  return value.length > MAX_ITEMS ? [...items, `…(+${value.length - MAX_ITEMS} items)`] : items;
}

/** `unknown`, because types do not stop a caller that was handed something else at run time. */
function plainScalar(value: unknown): PlainScalar {
  if (typeof value === 'string') return plainText(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return String(value);
  if (value === null || value === undefined) return null;
  if (value instanceof Secret) return REDACTED;
  if (value instanceof Error) return plainText(describeThrown(value));
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  return `[${typeof value}]`;
}
