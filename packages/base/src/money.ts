// Prices as integer micro-dollars per hour, so that equal prices are equal and sums do not drift.
// The wire carries doubles: this is the one place where they become money, and where NaN,
// negative and infinite prices are refused. Amounts saturate at 2⁵³ − 1 micros, about nine
// billion dollars per hour.

import type { Brand } from './ids.ts';
import { err, ok, type Result } from './result.ts';

/** An integer in [0, 2⁵³ − 1]; compare with `<` and `===`. */
export type MicrosPerHour = number & Brand<'MicrosPerHour'>;

export interface PriceError {
  readonly code: 'price_invalid';
  readonly problem: 'not_a_number' | 'negative' | 'infinite' | 'too_large';
}

const MICROS_PER_DOLLAR = 1_000_000;

/** Rounds to the nearest micro-dollar. */
export function microsPerHourFromDollars(dollars: number): Result<MicrosPerHour, PriceError> {
  if (Number.isNaN(dollars)) return invalid('not_a_number');
  if (dollars < 0) return invalid('negative');
  if (dollars === Number.POSITIVE_INFINITY) return invalid('infinite');
  const micros = Math.round(dollars * MICROS_PER_DOLLAR);
  if (micros > Number.MAX_SAFE_INTEGER) return invalid('too_large');
  // Adding zero turns -0 into 0, which would otherwise print and compare as a second zero.
  return ok((micros + 0) as MicrosPerHour);
}

export function dollarsFromMicrosPerHour(price: MicrosPerHour): number {
  return price / MICROS_PER_DOLLAR;
}

/** For people: `$1.80/h`, `$0.0042/h`; at least cents, every digit that matters. */
export function formatPerHour(price: MicrosPerHour): string {
  const dollars = Math.floor(price / MICROS_PER_DOLLAR);
  const fraction = String(price % MICROS_PER_DOLLAR).padStart(6, '0');
  return `$${dollars}.${fraction.slice(0, 2)}${fraction.slice(2).replace(/0+$/, '')}/h`;
}

function invalid(problem: PriceError['problem']): Result<MicrosPerHour, PriceError> {
  return err({ code: 'price_invalid', problem });
}
