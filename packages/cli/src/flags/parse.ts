// `--name=value`, `--name value`, and `--name` alone for a switch, which also takes `=false`: a
// chart renders every switch with its value. A flag that the table does not have is refused, with
// the nearest name: a typo must not start a shard on a default. `--` ends the flags. Words that are
// no flags are refused unless the caller says how many it takes.

import { err, ok, type Result } from '@bigfleet/base';
import type { Flag, FlagTable, FlagValues } from './flag.ts';
import { nearestName } from './nearest-name.ts';

export interface Parsed<Table extends FlagTable> {
  readonly values: FlagValues<Table>;
  /** Which flags the command line named. */
  readonly given: ReadonlySet<keyof Table & string>;
  /** The words that are no flags, in order. */
  readonly words: readonly string[];
}

/** Flags by name with every text that was given, and the words between them. */
interface Collected {
  readonly texts: ReadonlyMap<string, readonly string[]>;
  readonly words: readonly string[];
}

export function parseFlags<Table extends FlagTable>(
  table: Table,
  argv: readonly string[],
  options: { readonly maxWords?: number } = {},
): Result<Parsed<Table>, string> {
  const collected = collect(table, argv, options.maxWords ?? 0);
  if (!collected.ok) return collected;
  const { texts, words } = collected.value;
  const values: Record<string, unknown> = {};
  for (const [name, flag] of Object.entries(table)) {
    const parsed = parseValue(name, flag, texts.get(name));
    if (!parsed.ok) return parsed;
    values[name] = parsed.value;
  }
  const given = new Set(texts.keys());
  return ok({ values: values as FlagValues<Table>, given, words });
}

function collect(
  table: FlagTable,
  argv: readonly string[],
  maxWords: number,
): Result<Collected, string> {
  const texts = new Map<string, readonly string[]>();
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    if (argument === '--' && maxWords === 0) return err('unexpected argument "--"');
    const rest = argument === '--' ? argv.slice(at + 1) : isWord(argument) ? [argument] : [];
    words.push(...rest);
    if (words.length > maxWords) {
      return err(`unexpected argument ${JSON.stringify(words[maxWords])}`);
    }
    if (argument === '--') break;
    if (rest.length > 0) continue;
    const match = matchFlag(table, argument);
    if (!match.ok) return match;
    const { name, inline, flag } = match.value;
    const value = inline ?? (flag.form === undefined ? 'true' : argv[++at]);
    if (value === undefined) return err(`--${name} needs a value`);
    const before = texts.get(name) ?? [];
    if (before.length > 0 && flag.isRepeatable !== true) return err(`--${name} is given twice`);
    texts.set(name, [...before, value]);
  }
  return ok({ texts, words });
}

/** Anything that cannot be a flag, a lone dash among it. */
function isWord(argument: string): boolean {
  return !/^--?[A-Za-z]/.test(argument) && argument !== '--';
}

export interface MatchedFlag {
  readonly name: string;
  readonly flag: Flag<unknown>;
  /** What stood behind `=`, or behind the letter of a short flag. */
  readonly inline: string | undefined;
}

/** Which flag one argument names, without its value from the next argument. */
export function matchFlag(table: FlagTable, argument: string): Result<MatchedFlag, string> {
  const match = /^--?([A-Za-z][\w-]*)(?:=([\s\S]*))?$/.exec(argument);
  const [, name = '', inline] = match ?? [];
  const named = match !== null && Object.hasOwn(table, name) ? table[name] : undefined;
  if (named !== undefined) return ok({ name, flag: named, inline });
  const short = matchShort(table, argument);
  if (short !== undefined) return ok(short);
  if (match === null) return err(`unexpected argument ${JSON.stringify(argument)}`);
  return err(unknownFlag(table, name));
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
  const near = nearestName(Object.keys(table), name);
  return `unknown flag --${name}${near === undefined ? '' : `; did you mean --${near}?`}`;
}
