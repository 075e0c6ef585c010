// One record as one line of logfmt: `time=… level=… msg=… key=value …`. A value is quoted when it
// has to be, as Go's slog does, because runbooks grep for both forms. Whatever a value contains, the
// record stays one line and its keys stay ours: control characters, every Unicode line separator
// and invisible formatting characters (which can reverse what a terminal shows) are escaped.

import type { PlainValue } from './fields.ts';
import type { JsonRecord } from './pino.ts';

const NEEDS_QUOTES = /[\s="\\\p{C}\p{Z}]|^$/u;
const ESCAPED = /["\\\p{C}\p{Zl}\p{Zp}]/gu;
const SHORT_ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
]);

/** Without the trailing newline. */
export function formatLogfmt({ time, level, msg, ...fields }: JsonRecord): string {
  let line = `time=${quoted(time)} level=${quoted(level)} msg=${quoted(msg)}`;
  for (const [key, value] of Object.entries(fields)) line += ` ${key}=${text(value)}`;
  return line;
}

function text(value: PlainValue): string {
  return quoted(typeof value === 'object' && value !== null ? value.join(',') : String(value));
}

function quoted(value: string): string {
  return NEEDS_QUOTES.test(value) ? `"${value.replace(ESCAPED, escape)}"` : value;
}

function escape(character: string): string {
  const short = SHORT_ESCAPES.get(character);
  if (short !== undefined) return short;
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`;
}
