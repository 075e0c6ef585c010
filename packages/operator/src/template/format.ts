// How Go prints values: `{{ . }}` and the verbs of printf that a text can need.

import { quoted } from './quote.ts';
import { Struct, typeName, type Value } from './value.ts';

/** `%v`. */
export function printed(value: Value): string {
  if (value === null) return '<no value>';
  if (value instanceof Struct) {
    return `{${[...value.fields.values()].map(printed).join(' ')}}`;
  }
  if (typeof value === 'object') return `[${value.map(printed).join(' ')}]`;
  return typeof value === 'number' ? shortest(value) : String(value);
}

/** strconv 'g' with the shortest digits, as `%v` prints a float64. */
function shortest(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const [mantissa = '', power = '0'] = value.toExponential().split('e');
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 21) return Object.is(value, -0) ? '-0' : plainDecimal(value);
  return `${mantissa}e${sign(exponent)}${String(Math.abs(exponent)).padStart(2, '0')}`;
}

function plainDecimal(value: number): string {
  const text = String(value);
  if (!text.includes('e')) return text;
  const digits = Math.max(0, -Number(text.split('e')[1]) + (text.split('e')[0] ?? '').length);
  return value.toFixed(Math.min(100, digits)).replace(/\.?0+$/, '');
}

function sign(exponent: number): string {
  return exponent < 0 ? '-' : '+';
}

interface Verb {
  readonly verb: string;
  readonly flags: string;
  readonly width: number | undefined;
  readonly precision: number | undefined;
}

const VERB = /%([-+# 0]*)(\d+|\*)?(?:\.(\d+|\*)?)?(.)?/gsu;

export function goPrintf(format: string, args: readonly Value[]): string {
  let at = 0;
  const star = (text: string | undefined): number | undefined => {
    if (text !== '*') return text === undefined ? undefined : Number(text);
    const value = args[at++];
    return typeof value === 'bigint' ? Number(value) : undefined;
  };
  const text = format.replace(VERB, (whole, flags: string, width, precision, verb) => {
    if (verb === undefined) return '%!(NOVERB)';
    if (verb === '%') return '%';
    const hasPoint = whole.includes('.');
    const shape: Verb = {
      verb: String(verb),
      flags,
      width: star(width as string | undefined),
      precision: star(precision as string | undefined) ?? (hasPoint ? 0 : undefined),
    };
    const value = args[at++];
    return value === undefined ? `%!${shape.verb}(MISSING)` : formatted(value, shape);
  });
  const extra = args.slice(at).map((value) => `${typeName(value)}=${printed(value)}`);
  return extra.length === 0 ? text : `${text}%!(EXTRA ${extra.join(', ')})`;
}

function formatted(value: Value, shape: Verb): string {
  const bare = body(value, shape);
  return bare === undefined ? bad(value, shape.verb) : padded(bare, value, shape);
}

function bad(value: Value, verb: string): string {
  if (value === null) return `%!${verb}(<nil>)`;
  return `%!${verb}(${typeName(value)}=${printed(value)})`;
}

/** Without its padding; undefined when the verb does not fit the value. */
function body(value: Value, shape: Verb): string | undefined {
  const { verb, flags, precision } = shape;
  if (verb === 'T') return value === null ? '<nil>' : typeName(value);
  if (value === null) return verb === 'v' ? '<nil>' : undefined;
  if (verb === 'v' && typeof value !== 'string') return withPlus(printed(value), value, flags);
  if (typeof value === 'object') {
    if (value instanceof Struct) return undefined;
    const parts = value.map((one) => body(one, shape) ?? bad(one, verb));
    return `[${parts.join(' ')}]`;
  }
  if (typeof value === 'boolean') return verb === 't' ? String(value) : undefined;
  if (typeof value === 'string') return textBody(value, shape);
  if (typeof value === 'bigint') return withPlus(integerBody(value, verb, flags), value, flags);
  const digits = precision ?? 6;
  if (verb === 'f' || verb === 'F') return withPlus(value.toFixed(digits), value, flags);
  if (verb === 'e') {
    const [mantissa, power = '0'] = value.toExponential(digits).split('e');
    const exponent = String(Math.abs(Number(power))).padStart(2, '0');
    return withPlus(`${mantissa}e${sign(Number(power))}${exponent}`, value, flags);
  }
  if (verb !== 'g') return undefined;
  const rounded =
    precision === undefined ? value : Number(value.toPrecision(Math.max(1, precision)));
  return withPlus(shortest(rounded), value, flags);
}

function textBody(value: string, { verb, flags, precision }: Verb): string | undefined {
  const cut = precision === undefined ? value : Array.from(value).slice(0, precision).join('');
  switch (verb) {
    case 's':
    case 'v':
      return flags.includes('#') && verb === 'v' ? quoted(cut) : cut;
    case 'q':
      return flags.includes('#') && !/[`\n]/.test(cut) ? `\`${cut}\`` : quoted(cut);
    case 'x':
      return Buffer.from(cut).toString('hex');
    case 'X':
      return Buffer.from(cut).toString('hex').toUpperCase();
    default:
      return undefined;
  }
}

const BASES: Readonly<Record<string, readonly [number, string]>> = {
  b: [2, '0b'],
  o: [8, '0'],
  O: [8, '0o'],
  d: [10, ''],
  x: [16, '0x'],
  X: [16, '0X'],
};

function integerBody(value: bigint, verb: string, flags: string): string | undefined {
  if (verb === 'c') return String.fromCodePoint(Number(value));
  if (verb === 'q') return quoted(String.fromCodePoint(Number(value)), "'");
  if (verb === 'U') return `U+${value.toString(16).toUpperCase().padStart(4, '0')}`;
  const base = BASES[verb];
  if (base === undefined) return undefined;
  const [radix, prefix] = base;
  const digits = (value < 0n ? -value : value).toString(radix);
  const shown = verb === 'X' ? digits.toUpperCase() : digits;
  const isPrefixed = flags.includes('#') || verb === 'O';
  return `${value < 0n ? '-' : ''}${isPrefixed ? prefix : ''}${shown}`;
}

function withPlus(text: string | undefined, value: Value, flags: string): string | undefined {
  if (text === undefined || (typeof value !== 'bigint' && typeof value !== 'number')) return text;
  if (text.startsWith('-') || text.startsWith('+')) return text;
  return flags.includes('+') ? `+${text}` : flags.includes(' ') ? ` ${text}` : text;
}

function padded(text: string, value: Value, { flags, width = 0 }: Verb): string {
  const missing = width - Array.from(text).length;
  if (missing <= 0) return text;
  if (flags.includes('-')) return text + ' '.repeat(missing);
  const isNumber = typeof value === 'bigint' || typeof value === 'number';
  if (!flags.includes('0') || !isNumber) {
    return (flags.includes('0') ? '0' : ' ').repeat(missing) + text;
  }
  const [, lead = '', digits = ''] = /^([+\- ]?(?:0[xXbo])?)(.*)$/s.exec(text) ?? [];
  return lead + '0'.repeat(missing) + digits;
}
