// Quantity texts for fuzzing, from a seeded Random: well-formed ones of every form, near misses
// made by breaking them, and plain noise. Weighted so that more than half of them parse.

import type { Random } from '../../runtime/runtime.ts';

const SUFFIXES = ['', 'n', 'u', 'm', 'k', 'M', 'G', 'T', 'P', 'E'].concat(
  ['Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'],
  ['', 'm', 'Mi', 'Gi'],
);

const ALPHABET = '0123456789.+-eEinumkKMGTP _xX∞٣０\0\n\t"\\$'.split('');

const HOSTILE = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'valueOf',
  'NaN',
  'Infinity',
  '-Infinity',
  '0x10',
  '0b1',
  '1_000',
  '1n1',
  '1e999999999',
  '1e-999999999',
  '9'.repeat(64),
  '9'.repeat(65),
  `0.${'0'.repeat(61)}1`,
  '1'.repeat(10_000),
  '\ud800',
  '1\ud800',
];

export const RESOURCE_NAMES: readonly string[] = [
  'cpu',
  'memory',
  'ephemeral-storage',
  'hugepages-2Mi',
  'nvidia.com/gpu',
  '__proto__',
];

export function randomQuantityText(random: Random): string {
  const form = random.below(10);
  if (form < 6) return wellFormed(random);
  if (form < 8) return broken(wellFormed(random), random);
  return form === 8 ? noise(random) : pick(HOSTILE, random);
}

function wellFormed(random: Random): string {
  const sign = random.below(8) === 0 ? pick(['+', '-'], random) : '';
  const whole = digits(random, random.below(4) === 0 ? 22 : 6);
  const fraction =
    random.below(3) === 0 ? `.${digits(random, random.below(4) === 0 ? 22 : 4)}` : '';
  const suffix =
    random.below(4) === 0
      ? pick(['e', 'E'], random) + pick(['', '+', '-'], random) + digits(random, 3)
      : pick(SUFFIXES, random);
  return sign + whole + fraction + suffix;
}

function broken(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const character = pick(ALPHABET, random);
  return text.slice(0, at) + character + text.slice(at + random.below(2));
}

function noise(random: Random): string {
  let text = '';
  for (let left = random.below(80); left > 0; left--) {
    text +=
      random.below(2) === 0 ? pick(ALPHABET, random) : String.fromCharCode(random.below(65_536));
  }
  return text;
}

/** Zero to `max` digits, so that the forms without whole part or fraction occur, too. */
function digits(random: Random, max: number): string {
  let text = '';
  for (let left = random.below(max + 1); left > 0; left--) text += random.below(10);
  return text;
}

function pick(from: readonly string[], random: Random): string {
  return from[random.below(from.length)] ?? '';
}
