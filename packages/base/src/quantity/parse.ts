// The quantity grammar of Kubernetes, exactly, by one pass over the characters:
//   [+-] digits [. digits] | [+-] . digits     then     n u m k M G T P E | Ki … Ei | e|E [+-] digits
// Anything else is refused, including what Kubernetes' parser lets through against its own
// grammar: a sign or a point without any digit. Input is limited to 64 characters and exponents
// are clamped before any bigint exists, so no input can make this allocate or compute for long.

import { err, ok, type Result } from '../result.ts';
import {
  MAX_BINARY_NANOS,
  MAX_DECIMAL_NANOS,
  NANOS_PER_UNIT,
  type Quantity,
  type QuantityError,
  type QuantityFormat,
} from './quantity.ts';
import { suffixAt } from './suffix.ts';

export const MAX_QUANTITY_LENGTH = 64;

/** Beyond it every mantissa of 64 digits saturates or rounds to one nano; larger adds nothing. */
const EXPONENT_CLAMP = 200;

const NANO_DIGITS = 9;

interface Scan {
  readonly negative: boolean;
  /** All digits, point removed. */
  readonly mantissa: bigint;
  readonly fractionDigits: number;
  readonly decimalExponent: number;
  readonly binaryExponent: number;
  readonly format: QuantityFormat;
}

export function parseQuantity(text: string): Result<Quantity, QuantityError> {
  if (text.length > MAX_QUANTITY_LENGTH) return refuse('quantity_too_long', text, 0);
  const scan = scanQuantity(text);
  if (typeof scan === 'number') return refuse('quantity_malformed', text, scan);
  const nanos = nanosOf(scan);
  // Below one unit there is nothing binary left to show: Kubernetes changes the format, too.
  const isFraction = nanos > 0n && nanos < NANOS_PER_UNIT;
  const format = scan.format === 'binarySI' && isFraction ? 'decimalSI' : scan.format;
  return ok({ nanos: scan.negative ? -nanos : nanos, format });
}

export function refuse(
  code: QuantityError['code'],
  text: string,
  at: number,
): Result<never, QuantityError> {
  return err({ code, text: text.slice(0, MAX_QUANTITY_LENGTH), at });
}

/** The parts of the text, or the index at which it leaves the grammar. */
function scanQuantity(text: string): Scan | number {
  const signed = isSign(text.charCodeAt(0));
  const start = signed ? 1 : 0;
  const point = skipDigits(text, start);
  const hasPoint = text.charCodeAt(point) === 0x2e;
  const end = hasPoint ? skipDigits(text, point + 1) : point;
  const fraction = text.slice(point + 1, end);
  const digits = text.slice(start, point) + fraction;
  if (digits === '') return end;
  const suffix = scanSuffix(text, end);
  if (suffix === undefined) return end;
  return {
    negative: signed && text.charCodeAt(0) === 0x2d,
    mantissa: BigInt(digits),
    fractionDigits: fraction.length,
    ...suffix,
  };
}

type ScannedSuffix = Pick<Scan, 'decimalExponent' | 'binaryExponent' | 'format'>;

function scanSuffix(text: string, at: number): ScannedSuffix | undefined {
  const suffix = suffixAt(text, at);
  if (suffix !== undefined) {
    const { decimalExponent, binaryExponent } = suffix;
    return {
      decimalExponent,
      binaryExponent,
      format: binaryExponent === 0 ? 'decimalSI' : 'binarySI',
    };
  }
  const code = text.charCodeAt(at);
  if (code !== 0x65 && code !== 0x45) return undefined;
  const start = isSign(text.charCodeAt(at + 1)) ? at + 2 : at + 1;
  if (start === text.length || skipDigits(text, start) !== text.length) return undefined;
  const magnitude = Math.min(Number(text.slice(start)), EXPONENT_CLAMP);
  const decimalExponent = text.charCodeAt(at + 1) === 0x2d ? -magnitude : magnitude;
  return { decimalExponent, binaryExponent: 0, format: 'decimalExponent' };
}

/** Magnitude only; the sign is applied afterwards, so rounding is away from zero for both. */
function nanosOf(scan: Scan): bigint {
  const scaled = scan.mantissa << BigInt(scan.binaryExponent);
  const shift = scan.decimalExponent - scan.fractionDigits + NANO_DIGITS;
  const nanos =
    shift >= 0 ? scaled * 10n ** BigInt(shift) : divideUp(scaled, 10n ** BigInt(-shift));
  const max = scan.format === 'binarySI' ? MAX_BINARY_NANOS : MAX_DECIMAL_NANOS;
  return nanos > max ? max : nanos;
}

function divideUp(value: bigint, divisor: bigint): bigint {
  return (value + divisor - 1n) / divisor;
}

function skipDigits(text: string, from: number): number {
  let at = from;
  while (at < text.length && isDigit(text.charCodeAt(at))) at++;
  return at;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function isSign(code: number): boolean {
  return code === 0x2b || code === 0x2d;
}
