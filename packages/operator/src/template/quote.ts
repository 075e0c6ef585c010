// Go's string literals, both ways: constants of a template, and `%q`.

import { TemplateSyntaxError } from './lex.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  '"': '"',
};

/** The text of a `"…"` or a raw `…` literal. */
export function unquoted(literal: string, line: number): string {
  if (literal.startsWith('`')) return literal.slice(1, -1).replaceAll('\r', '');
  const escape = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{3})|(.))/gs;
  return literal.slice(1, -1).replace(escape, (whole: string, ...groups: unknown[]) => {
    const [x, u, long, octal, single] = groups as (string | undefined)[];
    const hex = x ?? u ?? long;
    if (hex !== undefined) return character(Number.parseInt(hex, 16), line);
    if (octal !== undefined) return character(Number.parseInt(octal, 8), line);
    const plain = ESCAPES[single ?? ''];
    if (plain === undefined) throw new TemplateSyntaxError(line, `invalid escape ${whole}`);
    return plain;
  });
}

function character(codePoint: number, line: number): string {
  if (codePoint > 0x10ffff) throw new TemplateSyntaxError(line, 'invalid code point');
  return String.fromCodePoint(codePoint);
}

const NAMED: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
};

/** strconv.Quote: what is not printable is escaped. */
export function quoted(text: string, quote: '"' | "'" = '"'): string {
  let out = quote;
  for (const one of text) {
    const code = one.codePointAt(0) ?? 0;
    if (one === quote) out += `\\${one}`;
    else if (NAMED[one] !== undefined) out += NAMED[one];
    else if (code < 0x20 || code === 0x7f) out += `\\x${code.toString(16).padStart(2, '0')}`;
    else if (/[\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(one)) out += one;
    else if (code > 0xffff) out += `\\U${code.toString(16).padStart(8, '0')}`;
    else out += `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return out + quote;
}
