// Quantities as the integers that the engine computes with. Each resource has one quantum, chosen
// so that real fleets stay exact below 2⁵³: cpu in millicores; memory, ephemeral-storage and
// hugepages-* in KiB; everything else in milli-units. Demand rounds up and allocatable down, so
// rounding never promises capacity that is not there. Values saturate at MAX_SAFE_INTEGER;
// negative ones are refused.
//
// Cost: ingest calls `toQuanta` per resource of a machine or need that changed. Common spellings
// (no sign, no exponent, nothing finer than nano) take a path without bigint: one pass over the
// text, and the result object as the only allocation. Measured in quantity.long.ts.

import { assert } from '../assert.ts';
import { ok, type Result } from '../result.ts';
import { MAX_QUANTITY_LENGTH, parseQuantity, refuse } from './parse.ts';
import { NANOS_PER_UNIT, type QuantityError } from './quantity.ts';
import { BINARY_SUFFIXES, DECIMAL_SUFFIXES, suffixAt } from './suffix.ts';

/** A thousandth of a unit (of a core, for cpu), or 1024 units (bytes). */
export type Quantum = 'milli' | 'kibi';

export type Rounding = 'demand' | 'allocatable';

const MAX_QUANTA = Number.MAX_SAFE_INTEGER;
const NANOS_PER_MILLI = NANOS_PER_UNIT / 1000n;
const NANOS_PER_KIBI = NANOS_PER_UNIT * 1024n;

/** Finer than nano needs the rounding of the exact path first. */
const MAX_FAST_FRACTION = 9;
const NOT_FAST = -1;

// Literals and doublings, not `**`: engines may be off by one unit in the last place there.
const POWERS_OF_TEN: readonly number[] = [
  1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
  1e18, 1e19, 1e20, 1e21,
];
const POWERS_OF_TWO: readonly number[] = doublings(61);

export function quantumOf(resourceName: string): Quantum {
  if (resourceName === 'memory' || resourceName === 'ephemeral-storage') return 'kibi';
  return resourceName.startsWith('hugepages-') ? 'kibi' : 'milli';
}

export function toQuanta(
  text: string,
  resourceName: string,
  rounding: Rounding,
): Result<number, QuantityError> {
  const quantum = quantumOf(resourceName);
  const fast = fastQuanta(text, quantum, rounding);
  if (fast !== NOT_FAST) return ok(fast);
  const parsed = parseQuantity(text);
  if (!parsed.ok) return parsed;
  const { nanos } = parsed.value;
  return nanos < 0n
    ? refuse('quantity_negative', text, 0)
    : ok(exactQuanta(nanos, quantum, rounding));
}

/** Canonical text: `fromQuanta(16777216, 'memory')` is `16Gi`, `fromQuanta(1500, 'cpu')` `1500m`. */
export function fromQuanta(quanta: number, resourceName: string): string {
  assert(Number.isSafeInteger(quanta) && quanta >= 0, 'quanta must be a safe integer', { quanta });
  if (quanta === 0) return '0';
  const isBinary = quantumOf(resourceName) === 'kibi';
  const factor = isBinary ? 1024 : 1000;
  const suffixes = isBinary ? BINARY_SUFFIXES : DECIMAL_SUFFIXES;
  let rest = quanta;
  let at = isBinary ? 1 : 2;
  while (at < suffixes.length - 1 && rest % factor === 0) {
    rest /= factor;
    at++;
  }
  return `${rest}${suffixes[at]?.text}`;
}

function exactQuanta(nanos: bigint, quantum: Quantum, rounding: Rounding): number {
  const divisor = quantum === 'milli' ? NANOS_PER_MILLI : NANOS_PER_KIBI;
  const roundUp = rounding === 'demand' ? divisor - 1n : 0n;
  const quanta = (nanos + roundUp) / divisor;
  return quanta > MAX_QUANTA ? MAX_QUANTA : Number(quanta);
}

/** The exact result for common spellings, or NOT_FAST, which says nothing about validity. */
function fastQuanta(text: string, quantum: Quantum, rounding: Rounding): number {
  let mantissa = 0;
  let digitCount = 0;
  let fractionDigits = 0;
  let hasPoint = false;
  let at = 0;
  if (text.length > MAX_QUANTITY_LENGTH) return NOT_FAST;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 0x30 && code <= 0x39) {
      mantissa = mantissa * 10 + (code - 0x30);
      digitCount++;
      if (hasPoint) fractionDigits++;
    } else if (code === 0x2e && !hasPoint) hasPoint = true;
    else break;
  }
  if (digitCount === 0) return NOT_FAST;
  const suffix = suffixAt(text, at);
  if (suffix === undefined) return NOT_FAST;
  const decimalExponent = suffix.decimalExponent - fractionDigits;
  if (decimalExponent < -MAX_FAST_FRACTION) return NOT_FAST;
  return quantum === 'milli'
    ? scaled(mantissa, decimalExponent + 3, suffix.binaryExponent, rounding)
    : scaled(mantissa, decimalExponent, suffix.binaryExponent - 10, rounding);
}

/**
 * mantissa × 10^decimal × 2^binary, rounded. Exact: below 2⁵³ every mantissa and product of
 * doubles here is exact, and one that is not comes out above MAX_QUANTA, where it saturates or
 * is left to the exact path.
 */
function scaled(mantissa: number, decimal: number, binary: number, rounding: Rounding): number {
  const numerator = mantissa * powerOfTen(decimal) * powerOfTwo(binary);
  const divisor = powerOfTen(-decimal) * powerOfTwo(-binary);
  if (numerator > MAX_QUANTA) return divisor === 1 ? MAX_QUANTA : NOT_FAST;
  const remainder = numerator % divisor;
  const floor = (numerator - remainder) / divisor;
  return remainder !== 0 && rounding === 'demand' ? floor + 1 : floor;
}

/** 1 for negative exponents: those go into the divisor. */
function powerOfTen(exponent: number): number {
  return exponent <= 0 ? 1 : (POWERS_OF_TEN[exponent] ?? Number.POSITIVE_INFINITY);
}

function powerOfTwo(exponent: number): number {
  return exponent <= 0 ? 1 : (POWERS_OF_TWO[exponent] ?? Number.POSITIVE_INFINITY);
}

function doublings(count: number): readonly number[] {
  const powers = [1];
  for (let i = 1; i < count; i++) powers.push((powers[i - 1] ?? 0) * 2);
  return powers;
}
