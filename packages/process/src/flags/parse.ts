// `--name=value`, `--name value`, and `--name` alone for a switch, which also takes `=false`: a
// chart renders every switch with its value. A flag that the table does not have is refused, with
// the nearest name: a typo must not start a process on a default. `--` ends the flags. Words that are
// no flags are refused unless the caller says how many it takes.

import { err, ok, type Result } from '@bigfleet/base';
import type { Flag, FlagTable, FlagValues } from './flag.ts';
import { nearestName } from './nearest-name.ts';

export interface Grammar {
  /** How many words that are no flags the command takes; none unless said. */
  readonly maxWords?: number | undefined;
  /** `-name` is no flag; only letters of `short` stand behind one dash. */
  readonly isTwoDashed?: boolean;
  /** Of a flag that is given twice the last counts; refused unless said. */
  readonly isLastCounted?: boolean;
}

/** What the command line says: flags by name with every text that was given, and the words between. */
export interface Arguments {
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

export interface Parsed<Table extends FlagTable> {
  readonly values: FlagValues<Table>;
  /** Which flags the command line named. */
  readonly given: ReadonlySet<keyof Table & string>;
  /** The words that are no flags, in order. */
  readonly words: readonly string[];
}

export type Refusal =
  | { readonly kind: 'unexpected'; readonly argument: string }
  | { readonly kind: 'unknown'; readonly name: string; readonly nearest: string | undefined }
  | { readonly kind: 'no-value' | 'twice'; readonly name: string }
  /** `source` is `--name`, or the variable that holds the text. */
  | {
      readonly kind: 'invalid';
      readonly source: string;
      readonly text: string;
      readonly expected: string;
    };

export function refusalText(refusal: Refusal): string {
  switch (refusal.kind) {
    case 'unexpected':
      return `unexpected argument ${JSON.stringify(refusal.argument)}`;
    case 'unknown':
      return `unknown flag --${refusal.name}${
        refusal.nearest === undefined ? '' : `; did you mean --${refusal.nearest}?`
      }`;
    case 'no-value':
      return `--${refusal.name} needs a value`;
    case 'twice':
      return `--${refusal.name} is given twice`;
    case 'invalid':
      return `${refusal.source}=${refusal.text}: ${refusal.expected}`;
  }
}

export function parseFlags<Table extends FlagTable>(
  table: Table,
  argv: readonly string[],
  grammar: Grammar = {},
): Result<Parsed<Table>, string> {
  const read = readArguments(table, argv, grammar);
  if (!read.ok) return err(refusalText(read.error));
  const { texts, words } = read.value;
  const values = readValues(table, texts);
  if (!values.ok) return err(refusalText(values.error));
  return ok({ values: values.value, given: new Set(texts.keys()), words });
}

export function readArguments(
  table: FlagTable,
  argv: readonly string[],
  grammar: Grammar = {},
): Result<Arguments, Refusal> {
  const { maxWords = 0, isTwoDashed = false, isLastCounted = false } = grammar;
  const texts = new Map<string, readonly string[]>();
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    if (argument === '--' && maxWords === 0) return err({ kind: 'unexpected', argument });
    const rest = argument === '--' ? argv.slice(at + 1) : isWord(argument) ? [argument] : [];
    words.push(...rest);
    const tooMany = words[maxWords];
    if (tooMany !== undefined) return err({ kind: 'unexpected', argument: tooMany });
    if (argument === '--') break;
    if (rest.length > 0) continue;
    const match = matchFlag(table, argument, isTwoDashed);
    if (!match.ok) return match;
    const { name, inline, flag } = match.value;
    const value = inline ?? (flag.form === undefined ? 'true' : argv[++at]);
    if (value === undefined) return err({ kind: 'no-value', name });
    const before = texts.get(name) ?? [];
    const isRepeatable = flag.isRepeatable === true || isLastCounted;
    if (before.length > 0 && !isRepeatable) return err({ kind: 'twice', name });
    texts.set(name, [...before, value]);
  }
  return ok({ texts, words });
}

/** Anything that cannot be a flag, a lone dash among it. */
function isWord(argument: string): boolean {
  return !/^--?[A-Za-z_]/.test(argument) && argument !== '--';
}

export interface MatchedFlag {
  readonly name: string;
  readonly flag: Flag<unknown>;
  /** What stood behind `=`, or behind the letter of a short flag. */
  readonly inline: string | undefined;
}

/** Which flag one argument names, without its value from the next argument. */
export function matchFlag(
  table: FlagTable,
  argument: string,
  isTwoDashed: boolean = false,
): Result<MatchedFlag, Refusal> {
  const shape = /^(--?)([A-Za-z_][\w-]*)(?:=([\s\S]*))?$/.exec(argument);
  const [, dashes, name = '', inline] = shape ?? [];
  const isNamed = shape !== null && (dashes === '--' || !isTwoDashed);
  const named = isNamed && Object.hasOwn(table, name) ? table[name] : undefined;
  if (named !== undefined) return ok({ name, flag: named, inline });
  const short = matchShort(table, argument);
  if (short !== undefined) return ok(short);
  if (!isNamed) return err({ kind: 'unexpected', argument });
  return err({ kind: 'unknown', name, nearest: nearestName(Object.keys(table), name) });
}

/** `-o`, `-o=json`, `-ojson`; a switch takes no letters behind it. */
function matchShort(table: FlagTable, argument: string): MatchedFlag | undefined {
  const [, letter, rest = ''] = /^-([A-Za-z])([\s\S]*)$/.exec(argument) ?? [];
  const found = Object.entries(table).find(
    ([, { short }]) => short !== undefined && short === letter,
  );
  if (found === undefined) return undefined;
  const [name, flag] = found;
  if (rest === '') return { name, flag, inline: undefined };
  if (rest.startsWith('=')) return { name, flag, inline: rest.slice(1) };
  return flag.form === undefined ? undefined : { name, flag, inline: rest };
}

/** The environment variable that sets a flag, where a command takes flags from there too. */
export function variableOf(name: string): string {
  return `BIGFLEET_${name.toUpperCase().replaceAll('-', '_')}`;
}

/** The command line wins over the environment; an empty variable counts as not set. */
export function readValues<Table extends FlagTable>(
  table: Table,
  texts: Arguments['texts'],
  env: Readonly<Record<string, string | undefined>> = {},
): Result<FlagValues<Table>, Refusal> {
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(table)) {
    const variable = variableOf(name);
    const inEnvironment = env[variable] ?? '';
    const fromEnvironment = inEnvironment === '' ? [] : [inEnvironment];
    const given = texts.get(name);
    const all: unknown[] = [];
    for (const text of given ?? fromEnvironment) {
      const parsed = flag.parse(text);
      const source = given === undefined ? variable : `--${name}`;
      if (!parsed.ok) return err({ kind: 'invalid', source, text, expected: parsed.error });
      all.push(parsed.value);
    }
    if (flag.isRepeatable === true || all.length > 0) {
      values[name] = flag.isRepeatable === true ? all : all.at(-1);
      continue;
    }
    const fallback = flag.parse(flag.fallback);
    // The text of a default that its own form refuses means: a value must be given.
    if (!fallback.ok) {
      const { fallback: text } = flag;
      return err({ kind: 'invalid', source: `--${name}`, text, expected: fallback.error });
    }
    values[name] = fallback.value;
  }
  // Every name of the table has a value of its kind now, which no type can follow through a loop.
  return ok(values as FlagValues<Table>);
}
