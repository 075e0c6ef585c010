// A command's flags as one table: name, form, default, help. Parsing, --help, documentation and the
// check of the chart read the same table, so that none of them can know a flag that the others
// don't. The forms of values are strict: a value that could be read in two ways is refused, with an
// example of what is meant.

import { err, ok, type Result } from '@bigfleet/base';

export interface Flag<T> {
  /** The text that means the default; what --help shows. */
  readonly fallback: string;
  readonly help: string;
  /** How a value is written, for --help: `<duration>`. Absent for switches. */
  readonly form?: string;
  /** The values that can be written, where they are few: for completion. */
  readonly choices?: readonly string[];
  /** One letter: `-o json`, `-o=json`, `-ojson`. */
  readonly short?: string;
  readonly isRepeatable?: boolean;
  /** The error says what would have been right. */
  readonly parse: (text: string) => Result<T, string>;
}

export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

export type FlagValue<F> = F extends Flag<infer T> ? T : never;

/** Repeatable flags give every value in order; the others one. */
export type FlagValues<Table extends FlagTable> = {
  readonly [Name in keyof Table]: Table[Name] extends { readonly isRepeatable: true }
    ? readonly FlagValue<Table[Name]>[]
    : FlagValue<Table[Name]>;
};

export type Repeatable<T> = Flag<T> & { readonly isRepeatable: true };

/** A year: beyond it a value is a typo. */
const MAX_DURATION_MS: number = 366 * 24 * 3_600_000;
const DURATION_FORM = 'write a duration such as 10s, 5m, 1h30m or 250ms';
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const UNIT_BYTES: Readonly<Record<string, number>> = {
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
};

export function text(fallback: string, help: string, form = '<text>'): Flag<string> {
  return { fallback, help, form, parse: ok };
}

export function texts(help: string, form: string): Repeatable<string> {
  return { ...text('', help, form), isRepeatable: true };
}

/** `--name`, `--name=true`, `--name=false`. */
export function toggle(fallback: boolean, help: string): Flag<boolean> {
  return {
    fallback: String(fallback),
    help,
    parse: (given) => {
      if (given === 'true' || given === '1') return ok(true);
      if (given === 'false' || given === '0') return ok(false);
      return err('write true or false');
    },
  };
}

export function wholeNumber(fallback: number, help: string, max = 1e9): Flag<number> {
  return {
    fallback: String(fallback),
    help,
    form: '<n>',
    parse: (given) => {
      const value = /^\d{1,10}$/.test(given) ? Number(given) : Number.NaN;
      return value <= max ? ok(value) : err(`write a whole number from 0 to ${max}`);
    },
  };
}

export function bigNumber(fallback: bigint, help: string): Flag<bigint> {
  return {
    fallback: String(fallback),
    help,
    form: '<n>',
    parse: (given) =>
      /^\d{1,18}$/.test(given) ? ok(BigInt(given)) : err('write a whole number from 0 up'),
  };
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

export function decimal(fallback: number, help: string, { min, max }: Range): Flag<number> {
  return {
    fallback: String(fallback),
    help,
    form: '<number>',
    parse: (given) => {
      const value = /^\d{1,12}(\.\d{1,12})?$/.test(given) ? Number(given) : Number.NaN;
      return value >= min && value <= max ? ok(value) : err(`write a number from ${min} to ${max}`);
    },
  };
}

/** `10s`, `1h30m`, `250ms`, `0`; in milliseconds. */
export function duration(fallback: string, help: string): Flag<number> {
  return { fallback, help, form: '<duration>', parse: parseDuration };
}

/** A bare number is refused: nobody can tell whether 30 means seconds or minutes. */
export function parseDuration(given: string): Result<number, string> {
  if (given === '0') return ok(0);
  const parts = [...given.matchAll(/(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === given;
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs(unit), 0);
  if (!isWhole || ms > MAX_DURATION_MS) return err(DURATION_FORM);
  return ok(ms);
}

/** The shortest spelling of whole milliseconds: `5m`, `1h30m`, `0`. */
export function formatDuration(ms: number): string {
  if (ms === 0) return '0';
  let restMs = ms;
  let text = '';
  for (const unit of ['h', 'm', 's', 'ms']) {
    const count = Math.floor(restMs / unitMs(unit));
    if (count > 0) text += `${count}${unit}`;
    restMs -= count * unitMs(unit);
  }
  return text;
}

function unitMs(unit: string | undefined): number {
  return UNIT_MS[unit ?? ''] ?? Number.NaN;
}

/** `512Mi`, `2G`, `0`. */
export function bytes(fallback: string, help: string): Flag<number> {
  return {
    fallback,
    help,
    form: '<bytes>',
    parse: (given) => {
      const match = /^(\d{1,12})(k|M|G|Ki|Mi|Gi)?$/.exec(given);
      const value = Number(match?.[1]) * (UNIT_BYTES[match?.[2] ?? ''] ?? Number.NaN);
      return Number.isSafeInteger(value) ? ok(value) : err('write for example 512Mi, or 0');
    },
  };
}

export function oneOf<const T extends string>(
  fallback: T,
  choices: readonly T[],
  help: string,
): Flag<T> {
  return {
    fallback,
    help,
    form: choices.join('|'),
    choices,
    parse: (given) => {
      const choice = choices.find((each) => each === given);
      return choice === undefined ? err(`write one of ${choices.join(', ')}`) : ok(choice);
    },
  };
}
