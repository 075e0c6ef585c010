// The command line and the environment against a table of flags. The command line wins; an empty
// variable counts as not set. Everything unknown is an error that names the nearest known flag: a
// typo that is ignored starts a provider that is not the one its operator described.

import { assert } from '@bigfleet/base';
import { parseDuration } from './duration.ts';
import { type FlagSpec, type FlagTable, type FlagValues, variableOf } from './flag-table.ts';
import { nearestName } from './nearest-name.ts';

export type ParsedFlags<Table extends FlagTable> =
  | { readonly kind: 'values'; readonly values: FlagValues<Table> }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'error'; readonly problem: string };

export interface FlagSources {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

type FlagResult = string | number | boolean;
type Read<T> = { readonly ok: true; readonly value: T } | Problem;
interface Problem {
  readonly ok: false;
  readonly problem: string;
}

export function parseFlags<Table extends FlagTable>(
  table: Table,
  sources: FlagSources,
): ParsedFlags<Table> {
  const given = readArguments(table, sources.argv);
  if (!given.ok) return { kind: 'error', problem: given.problem };
  if (given.value.has('help')) return { kind: 'help' };
  if (given.value.has('version')) return { kind: 'version' };
  const values: Record<string, FlagResult> = {};
  for (const [name, spec] of Object.entries(table)) {
    const value = readValue(name, spec, given.value.get(name), sources.env);
    if (!value.ok) return { kind: 'error', problem: value.problem };
    values[name] = value.value;
  }
  // Every name of the table has a value of its kind now, which no type can follow through a loop.
  return { kind: 'values', values: values as FlagValues<Table> };
}

/** `--name=value`, `--name value`, and `--name` alone for switches. The last one wins. */
function readArguments(
  table: FlagTable,
  argv: readonly string[],
): Read<ReadonlyMap<string, string>> {
  const given = new Map<string, string>();
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? '';
    if (argument === '--help' || argument === '-h') given.set('help', '');
    else if (argument === '--version') given.set('version', '');
    else {
      const read = readArgument(table, argument, argv[at + 1]);
      if (!read.ok) return read;
      given.set(read.value.name, read.value.text);
      if (read.value.usedNext) at += 1;
    }
  }
  return { ok: true, value: given };
}

interface Argument {
  readonly name: string;
  readonly text: string;
  readonly usedNext: boolean;
}

function readArgument(
  table: FlagTable,
  argument: string,
  next: string | undefined,
): Read<Argument> {
  if (!argument.startsWith('--') || argument === '--') {
    return problem(`unexpected argument ${JSON.stringify(argument)}: flags start with --`);
  }
  const equals = argument.indexOf('=');
  const name = argument.slice(2, equals < 0 ? undefined : equals);
  const spec = Object.hasOwn(table, name) ? table[name] : undefined;
  if (spec === undefined) return problem(unknownFlag(table, name));
  if (equals >= 0) {
    return { ok: true, value: { name, text: argument.slice(equals + 1), usedNext: false } };
  }
  if (spec.kind === 'switch') return { ok: true, value: { name, text: 'true', usedNext: false } };
  if (next === undefined) return problem(`--${name} needs a value`);
  return { ok: true, value: { name, text: next, usedNext: true } };
}

function unknownFlag(table: FlagTable, name: string): string {
  const nearest = nearestName(name, Object.keys(table));
  const hint = nearest === undefined ? '' : `; did you mean --${nearest}?`;
  return `unknown flag --${name}${hint} (--help lists all)`;
}

function readValue(
  name: string,
  spec: FlagSpec,
  argument: string | undefined,
  env: FlagSources['env'],
): Read<FlagResult> {
  const variable = variableOf(name);
  const fromEnv = env[variable] === '' ? undefined : env[variable];
  const text = argument ?? fromEnv;
  if (text === undefined) return { ok: true, value: spec.default };
  const value = valueOf(spec, text);
  if (value !== undefined) return { ok: true, value };
  const source = argument === undefined ? variable : `--${name}`;
  return problem(`${source}=${JSON.stringify(text)}: ${expectation(spec)}`);
}

function valueOf(spec: FlagSpec, text: string): FlagResult | undefined {
  switch (spec.kind) {
    case 'text':
      return text;
    case 'switch':
      if (text === 'true' || text === '1') return true;
      return text === 'false' || text === '0' ? false : undefined;
    case 'duration':
      return parseDuration(text);
    case 'count':
      return /^[0-9]{1,15}$/.test(text) && Number(text) <= spec.max ? Number(text) : undefined;
    case 'choice':
      return spec.values.includes(text) ? text : undefined;
  }
}

function expectation(spec: FlagSpec): string {
  switch (spec.kind) {
    case 'text':
      return 'any text';
    case 'switch':
      return 'write true or false';
    case 'duration':
      return 'write a duration such as 45s, 5m or 1h30m; 0 where it may be off';
    case 'count':
      return `write a whole number from 0 to ${spec.max}`;
    case 'choice':
      return `write one of ${spec.values.join(', ')}`;
  }
}

function problem(text: string): Problem {
  assert(text !== '', 'a problem has words');
  return { ok: false, problem: text };
}
