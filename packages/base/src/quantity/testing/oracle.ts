// A slow, obvious reading of the quantity grammar for tests: one regular expression and exact
// fractions. It shares no code with the parser, so an error has to be made twice to go unseen.

export interface OracleQuantity {
  readonly nanos: bigint;
  readonly isBinary: boolean;
}

const GRAMMAR =
  /^(?<sign>[+-]?)(?:(?<whole>[0-9]+)(?:\.(?<fraction>[0-9]*))?|\.(?<only>[0-9]+))(?:(?<binary>[KMGTPE]i)|(?<decimal>[numkMGTPE])|[eE](?<exponent>[+-]?[0-9]+))?$/;

const LONGEST = 64;
const NANO = 10n ** 9n;

export function oracleParse(text: string): OracleQuantity | undefined {
  if (text.length > LONGEST) return undefined;
  const groups = GRAMMAR.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const fraction = groups['fraction'] ?? groups['only'] ?? '';
  const isBinary = groups['binary'] !== undefined;
  let numerator = BigInt((groups['whole'] ?? '') + fraction) * NANO;
  let denominator = 10n ** BigInt(fraction.length);
  if (isBinary) numerator *= 1024n ** BigInt('_KMGTPE'.indexOf(groups['binary']?.[0] ?? ''));
  const exponent = decimalExponent(groups['decimal'], groups['exponent']);
  if (exponent > 0n) numerator *= 10n ** exponent;
  else denominator *= 10n ** -exponent;
  const rounded = (numerator + denominator - 1n) / denominator;
  const max = (isBinary ? 2n ** 63n - 1n : 10n ** 36n) * NANO;
  const capped = rounded > max ? max : rounded;
  return { nanos: groups['sign'] === '-' ? -capped : capped, isBinary };
}

export function oracleQuanta(
  nanos: bigint,
  resourceName: string,
  rounding: 'demand' | 'allocatable',
): number {
  const isBytes = /^(memory|ephemeral-storage|hugepages-.*)$/s.test(resourceName);
  const nanosPerQuantum = isBytes ? 1024n * NANO : NANO / 1000n;
  const floor = nanos / nanosPerQuantum;
  const isExact = floor * nanosPerQuantum === nanos;
  const quanta = rounding === 'demand' && !isExact ? floor + 1n : floor;
  return Number(quanta > 2n ** 53n - 1n ? 2n ** 53n - 1n : quanta);
}

function decimalExponent(suffix: string | undefined, exponent: string | undefined): bigint {
  if (suffix !== undefined) return 3n * BigInt('num_kMGTPE'.indexOf(suffix) - 3);
  const value = BigInt((exponent ?? '0').replace('+', ''));
  // 10^±500 is far beyond every bound and keeps the fractions small.
  if (value > 500n) return 500n;
  return value < -500n ? -500n : value;
}
