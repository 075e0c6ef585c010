// The functions that a template may call: Go's builtins, and `fail`. Comparison follows Go: kinds must
// match, ints and floats are different kinds.

import { goPrintf, printed } from './format.ts';
import { Struct, isTrue, TemplateError, TemplateRefusal, typeName, type Value } from './value.ts';

/** An argument; `and` and `or` evaluate only those that they need. */
export type Called = () => Value;

export function isShortCircuit(name: string): boolean {
  return name === 'and' || name === 'or';
}

const EVALUATED: Readonly<Record<string, (args: readonly Value[]) => Value>> = {
  not: (args) => !isTrue(only('not', args)),
  eq: (args) => {
    const [first = null, ...others] = args;
    if (args.length < 2) throw new TemplateError('missing argument for comparison');
    return others.some((other) => isEqual(first, other));
  },
  ne: (args) => {
    const [a, b] = pair('ne', args);
    return !isEqual(a, b);
  },
  lt: (args) => compared('lt', args, (order) => order < 0),
  le: (args) => compared('le', args, (order) => order <= 0),
  gt: (args) => compared('gt', args, (order) => order > 0),
  ge: (args) => compared('ge', args, (order) => order >= 0),
  len: (args) => lengthOf(only('len', args)),
  index: indexed,
  slice: sliced,
  print: (args) => joined(args),
  println: (args) => `${args.map(shown).join(' ')}\n`,
  printf: ([format, ...args]) => {
    if (typeof format !== 'string') throw new TemplateError('printf needs a format string');
    return goPrintf(format, args);
  },
  html: (args) => escapedHtml(joined(args)),
  js: (args) => escapedJs(joined(args)),
  urlquery: (args) => escapedQuery(joined(args)),
  fail: (args) => {
    throw new TemplateRefusal(joined(args));
  },
};

export const FUNCTIONS: ReadonlySet<string> = new Set(['and', 'or', ...Object.keys(EVALUATED)]);

export function callFunction(name: string, args: readonly Called[]): Value {
  if (isShortCircuit(name)) return shortCircuit(name, args);
  const body = Object.hasOwn(EVALUATED, name) ? EVALUATED[name] : undefined;
  if (body === undefined) throw new TemplateError(`function "${name}" not defined`);
  return body(args.map((argument) => argument()));
}

function shortCircuit(name: string, args: readonly Called[]): Value {
  let value: Value | undefined;
  for (const argument of args) {
    value = argument();
    if (isTrue(value) === (name === 'or')) return value;
  }
  if (value === undefined) throw new TemplateError(`wrong number of args for ${name}`);
  return value;
}

function only(name: string, args: readonly Value[]): Value {
  const [value] = args;
  if (value === undefined || args.length !== 1) {
    throw new TemplateError(`wrong number of args for ${name}: want 1 got ${args.length}`);
  }
  return value;
}

function pair(name: string, args: readonly Value[]): readonly [Value, Value] {
  const [a, b] = args;
  if (a === undefined || b === undefined || args.length !== 2) {
    throw new TemplateError(`wrong number of args for ${name}: want 2 got ${args.length}`);
  }
  return [a, b];
}

function isEqual(a: Value, b: Value): boolean {
  if (a === null || b === null) return a === b;
  if (typeof a === 'object' || typeof b === 'object') {
    throw new TemplateError(`non-comparable type ${typeName(typeof a === 'object' ? a : b)}`);
  }
  if (typeof a !== typeof b) throw new TemplateError('incompatible types for comparison');
  return a === b;
}

function compared(
  name: string,
  args: readonly Value[],
  holds: (order: number) => boolean,
): boolean {
  const [a, b] = pair(name, args);
  if (a === null || b === null || typeof a === 'object' || typeof b === 'object') {
    throw new TemplateError('invalid type for comparison');
  }
  if (typeof a !== typeof b) throw new TemplateError('incompatible types for comparison');
  if (typeof a === 'boolean') throw new TemplateError('invalid type for comparison');
  const order =
    typeof a === 'string' ? compareBytes(a, String(b)) : Math.sign(Number(a) - Number(b));
  return holds(order);
}

/** Go compares bytes of UTF-8, which is the order of code points. */
function compareBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function lengthOf(value: Value): bigint {
  if (typeof value === 'string') return BigInt(Buffer.byteLength(value));
  if (isList(value)) return BigInt(value.length);
  throw new TemplateError(`len of type ${typeName(value)}`);
}

function isList(value: Value): value is readonly Value[] {
  return typeof value === 'object' && value !== null && !(value instanceof Struct);
}

function indexed(args: readonly Value[]): Value {
  const [start, ...indexes] = args;
  if (start === undefined) throw new TemplateError('index of untyped nil');
  let current = start;
  for (const at of indexes) {
    if (typeof current === 'string') {
      const bytes = Buffer.from(current);
      current = BigInt(bytes[place(at, bytes.length - 1)] ?? 0);
    } else if (isList(current)) {
      current = current[place(at, current.length - 1)] ?? null;
    } else {
      throw new TemplateError(`can't index item of type ${typeName(current)}`);
    }
  }
  return current;
}

/** The index as a number, refused outside [0, most]. */
function place(index: Value, most: number): number {
  if (typeof index !== 'bigint') {
    throw new TemplateError(`cannot index slice/array with type ${typeName(index)}`);
  }
  if (index < 0n || index > BigInt(most)) throw new TemplateError(`index out of range: ${index}`);
  return Number(index);
}

function sliced(args: readonly Value[]): Value {
  const [item, ...bounds] = args;
  if (item === undefined) throw new TemplateError('slice of untyped nil');
  if (bounds.length > 3) throw new TemplateError('too many slice indexes');
  if (typeof item === 'string') {
    if (bounds.length === 3) throw new TemplateError('cannot 3-index slice a string');
    const bytes = Buffer.from(item);
    const [from, to] = range(bounds, bytes.length);
    return bytes.subarray(from, to).toString('utf8');
  }
  if (!isList(item)) throw new TemplateError(`can't slice item of type ${typeName(item)}`);
  const [from, to] = range(bounds.slice(0, 2), item.length);
  return item.slice(from, to);
}

function range(bounds: readonly Value[], length: number): readonly [number, number] {
  const [first, second] = bounds;
  const from = first === undefined ? 0 : place(first, length);
  const to = second === undefined ? length : place(second, length);
  if (from > to) throw new TemplateError(`invalid slice index: ${from} > ${to}`);
  return [from, to];
}

/** fmt.Sprint: a space between two arguments when neither is a string. */
function joined(args: readonly Value[]): string {
  return args
    .map((value, i) => {
      const before = args[i - 1];
      const isSpaced = i > 0 && typeof before !== 'string' && typeof value !== 'string';
      return (isSpaced ? ' ' : '') + shown(value);
    })
    .join('');
}

/** Only `{{ }}` itself says `<no value>`. */
function shown(value: Value): string {
  return value === null ? '<nil>' : printed(value);
}

const HTML: Readonly<Record<string, string>> = {
  '\0': '\uFFFD',
  '"': '&#34;',
  "'": '&#39;',
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
};

function escapedHtml(text: string): string {
  return text.replace(/[\0"'&<>]/g, (one) => HTML[one] ?? one);
}

const JS: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
};

function escapedJs(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what Go escapes
  return text.replace(/[\\'"<>&=\u0000-\u001f]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, (one) => {
    const code = one.codePointAt(0) ?? 0;
    return JS[one] ?? `\\u${code.toString(16).toUpperCase().padStart(4, '0')}`;
  });
}

function escapedQuery(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%20', '+');
}
