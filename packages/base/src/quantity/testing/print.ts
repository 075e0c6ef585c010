// The canonical form of Kubernetes: an integer without leading zeros and the largest suffix that
// keeps it exact, in the format of the value. As in Kubernetes, binary form falls back to decimal
// below 1024 in magnitude and for fractions, and decimal form to an exponent beyond exa. Laws:
// printing a parsed value and parsing it again gives the same value; printing is stable from the
// first time on. The second law is ours: Kubernetes prints 62.5Ki as 64000 and that as 64k; a
// binary value without a factor of 1024 is decimal here from the start.

import { NANOS_PER_UNIT, type Quantity } from '../quantity.ts';
import { BINARY_SUFFIXES, DECIMAL_SUFFIXES, NO_SUFFIX } from '../suffix.ts';

const NANO_EXPONENT = -9;
const NANOS_PER_KIBI = NANOS_PER_UNIT * 1024n;
/** Past any value within the bounds of a quantity. */
const MAX_DECIMAL_STEPS = 20;

export function printQuantity(quantity: Quantity): string {
  const { nanos } = quantity;
  if (nanos === 0n) return '0';
  const magnitude = nanos < 0n ? -nanos : nanos;
  const sign = nanos < 0n ? '-' : '';
  if (quantity.format === 'binarySI') {
    const kibis = magnitude / NANOS_PER_KIBI;
    if (kibis * NANOS_PER_KIBI === magnitude) return sign + printBinary(kibis);
  }
  return sign + printDecimal(magnitude, quantity.format === 'decimalExponent');
}

function printBinary(kibis: bigint): string {
  const { rest, times } = stripFactor(kibis, 1024n, BINARY_SUFFIXES.length - 2);
  return `${rest}${BINARY_SUFFIXES[times + 1]?.text}`;
}

function printDecimal(nanos: bigint, asExponent: boolean): string {
  const { rest, times } = stripFactor(nanos, 1000n, MAX_DECIMAL_STEPS);
  const suffix = DECIMAL_SUFFIXES[times];
  if (suffix === NO_SUFFIX) return String(rest);
  if (suffix !== undefined && !asExponent) return `${rest}${suffix.text}`;
  return `${rest}e${NANO_EXPONENT + 3 * times}`;
}

function stripFactor(
  value: bigint,
  factor: bigint,
  maxTimes: number,
): { readonly rest: bigint; readonly times: number } {
  let rest = value;
  let times = 0;
  while (times < maxTimes && rest % factor === 0n) {
    rest /= factor;
    times++;
  }
  return { rest, times };
}
