// Random Lists, from well-formed to hostile: a case is a pure function of seed and index, so one
// failing input replays alone. Few distinct values, so that interning, merging and duplicates
// happen; awkward ones among them.

import { createRandom, type Random } from '@bigfleet/base';
import { delimited, doubleField, entryField, tag, textField, varint } from './raw-fields.ts';

const TEXTS: readonly string[] = [
  '',
  'a',
  'abc',
  'zone-a',
  '__proto__',
  'constructor',
  'é\u0000😀',
  '\ufeffbom',
  'x'.repeat(40),
  'long-'.repeat(60),
];
const DOUBLES: readonly number[] = [0, -0, 1.5, -1, Number.NaN, Number.POSITIVE_INFINITY, 5e-324];
const ENUMS: readonly bigint[] = [
  0n,
  1n,
  3n,
  5n,
  8n,
  9n,
  254n,
  255n,
  256n,
  2n ** 28n,
  2n ** 31n,
  2n ** 32n + 3n,
  2n ** 64n - 1n,
];

export function randomList(seed: string, index: number): Uint8Array {
  const random = createRandom(seed).stream(String(index));
  const machines: number[] = [];
  for (let count = random.below(6); count > 0; count--) {
    machines.push(...delimited(1, randomMachine(random), oddPadding(random)));
  }
  if (random.below(2) === 0) machines.push(...delimited(2, randomBytes(random, 8)));
  if (random.below(6) === 0) machines.push(...unknownField(random));
  const bytes = random.below(3) === 0 ? mutate(random, machines) : machines;
  return Uint8Array.from(bytes);
}

function randomMachine(random: Random): number[] {
  const fields: number[][] = [];
  if (random.below(8) > 0) fields.push(textField(1, pick(random, TEXTS)));
  for (let count = random.below(14); count > 0; count--) fields.push(randomField(random));
  // Mostly in the order of an encoder, sometimes not.
  if (random.below(2) === 0) fields.sort(() => random.below(3) - 1);
  return fields.flat();
}

function randomField(random: Random): number[] {
  switch (random.below(14)) {
    case 0:
      return [...tag(2, 0, oddPadding(random)), ...varint(pick(random, ENUMS))];
    case 1:
      return [...tag(6, 0), ...varint(pick(random, ENUMS))];
    case 2:
      return delimited(3, randomHost(random), oddPadding(random));
    case 3:
      return textField(pick(random, [4, 5, 12, 14]), pick(random, TEXTS));
    case 4:
      return doubleField(pick(random, [7, 8]), pick(random, DOUBLES));
    case 5:
    case 6:
      return delimited(pick(random, [9, 13]), randomQuantities(random), oddPadding(random));
    case 7:
    case 8:
    case 9:
      return randomEntry(random, pick(random, [10, 15]));
    case 10:
      return unknownField(random);
    case 11:
      return textField(1, pick(random, TEXTS));
    case 12:
      // A known field with a random wire type.
      return [...tag(1 + random.below(15), random.below(8)), ...randomBytes(random, 9)];
    default:
      return delimited(pick(random, [1, 4, 10, 14]), randomBytes(random, 6));
  }
}

function randomHost(random: Random): number[] {
  const fields: number[] = [];
  for (let count = random.below(4); count > 0; count--) {
    if (random.below(8) === 0) fields.push(...unknownField(random));
    else fields.push(...textField(1 + random.below(2), pick(random, TEXTS)));
  }
  return fields;
}

function randomQuantities(random: Random): number[] {
  const fields: number[] = [];
  for (let count = random.below(4); count > 0; count--) {
    if (random.below(10) === 0) fields.push(...unknownField(random));
    else fields.push(...randomEntry(random, 1));
  }
  return fields;
}

function randomEntry(random: Random, number: number): number[] {
  if (random.below(3) > 0) return entryField(number, pick(random, TEXTS), pick(random, TEXTS));
  const fields: number[] = [];
  for (let count = random.below(4); count > 0; count--) {
    const isForeign = random.below(12) === 0;
    fields.push(...textField(isForeign ? 3 : 1 + random.below(2), pick(random, TEXTS)));
  }
  return delimited(number, fields, oddPadding(random));
}

function unknownField(random: Random): number[] {
  const number = pick(random, [3, 11, 16, 17, 4_000, 0x1fff_ffff]);
  switch (random.below(4)) {
    case 0:
      return [...tag(number, 0), ...varint(BigInt(random.uint32()), oddPadding(random))];
    case 1:
      return [...tag(number, 1), ...randomBytes(random, 0), ...Array<number>(8).fill(7)];
    case 2:
      return [...tag(number, 5), 1, 2, 3, 4];
    default:
      return delimited(number, randomBytes(random, 5));
  }
}

/** Nearly always the shortest spelling. */
function oddPadding(random: Random): number {
  return random.below(10) === 0 ? random.below(9) : 0;
}

function mutate(random: Random, bytes: readonly number[]): number[] {
  const changed = [...bytes];
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(changed.length + 1);
    switch (random.below(4)) {
      case 0:
        if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << random.below(8));
        break;
      case 1:
        changed.length = at;
        break;
      case 2:
        changed.splice(at, 0, ...randomBytes(random, 4));
        break;
      default:
        changed.splice(at, random.below(4));
    }
  }
  return changed;
}

function randomBytes(random: Random, most: number): number[] {
  return Array.from({ length: random.below(most + 1) }, () => random.below(256));
}

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)] as T;
}
