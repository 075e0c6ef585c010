// `--name=value`, `--name value`, and `--name` alone for a switch, which also takes `=false`: a
// chart renders every switch with its value. A flag that the table does not have is refused, with
// the nearest name: a typo must not start a shard on a default.

import { err, ok, type Result } from '@bigfleet/base';
import type { Flag, FlagTable, FlagValues } from './flag.ts';

export interface Parsed<Table extends FlagTable> {
  readonly values: FlagValues<Table>;
  /** Which flags the command line named. */
  readonly given: ReadonlySet<keyof Table & string>;
}

export function parseFlags<Table extends FlagTable>(
  table: Table,
  argv: readonly string[],
): Result<Parsed<Table>, string> {
  const texts = collect(table, argv);
  if (!texts.ok) return texts;
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(table)) {
    const parsed = parseValue(name, flag, texts.value.get(name));
    if (!parsed.ok) return parsed;
    values[name] = parsed.value;
  }
  const given = new Set(texts.value.keys());
  return ok({ values: values as FlagValues<Table>, given });
}

function collect(
  table: FlagTable,
  argv: readonly string[],
): Result<Map<string, readonly string[]>, string> {
  const texts = new Map<string, readonly string[]>();
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    const match = /^--?([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(argument);
    if (match === null) return err(`unexpected argument ${JSON.stringify(argument)}`);
    const [, name = '', inline] = match;
    const flag = Object.hasOwn(table, name) ? table[name] : undefined;
    if (flag === undefined) return err(unknownFlag(table, name));
    const isSwitch = flag.form === undefined;
    const value = inline ?? (isSwitch ? 'true' : argv[++at]);
    if (value === undefined) return err(`--${name} needs a value`);
    const before = texts.get(name) ?? [];
    if (before.length > 0 && flag.isRepeatable !== true) return err(`--${name} is given twice`);
    texts.set(name, [...before, value]);
  }
  return ok(texts);
}

function parseValue(
  name: string,
  flag: Flag<unknown>,
  texts: readonly string[] | undefined,
): Result<unknown, string> {
  if (flag.isRepeatable === true) return parseAll(name, flag, texts ?? []);
  return parseOne(name, flag, texts?.[0] ?? flag.fallback);
}

function parseAll(
  name: string,
  flag: Flag<unknown>,
  texts: readonly string[],
): Result<unknown[], string> {
  const values: unknown[] = [];
  for (const text of texts) {
    const parsed = parseOne(name, flag, text);
    if (!parsed.ok) return parsed;
    values.push(parsed.value);
  }
  return ok(values);
}

function parseOne(name: string, flag: Flag<unknown>, text: string): Result<unknown, string> {
  const parsed = flag.parse(text);
  return parsed.ok ? parsed : err(`--${name}=${text}: ${parsed.error}`);
}

function unknownFlag(table: FlagTable, name: string): string {
  const near = Object.keys(table).find((known) => distance(known, name) <= 2);
  return `unknown flag --${name}${near === undefined ? '' : `; did you mean --${near}?`}`;
}

/** Edits between two names, counted up to 3: enough to know a typo. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let previous = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const isSame = a[row - 1] === b[column - 1];
      const replaced = (previous[column - 1] ?? 0) + (isSame ? 0 : 1);
      const inserted = (current[column - 1] ?? 0) + 1;
      const deleted = (previous[column] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, deleted));
    }
    previous = current;
  }
  return previous[b.length] ?? 3;
}
