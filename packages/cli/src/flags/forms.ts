// The forms that flag values take. Strict: a value that could be read in two ways is refused, with
// an example of what is meant.

import { err, ok, type Result } from '@bigfleet/base';
import type { Flag } from './flag.ts';

export type Repeatable<T> = Flag<T> & { readonly isRepeatable: true };

const MAX_DURATION_MS: number = 365 * 24 * 3_600_000;
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

export function parseDuration(given: string): Result<number, string> {
  if (given === '0') return ok(0);
  const parts = [...given.matchAll(/(\d{1,9}(?:\.\d{1,6})?)(ms|s|m|h)/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === given;
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * unitMs(unit), 0);
  if (!isWhole || ms > MAX_DURATION_MS) return err('write for example 10s, 5m or 250ms');
  return ok(ms);
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
