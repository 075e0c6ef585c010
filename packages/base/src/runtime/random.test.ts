// Proves that the generator and the mixer are the published ones (known answers), that streams
// depend on seed and name path only, and that draws stay in range without bias.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AssertionError } from '../assert.ts';
import { Murmur3, zeroKey } from '../murmur3.ts';
import { createRandom, seededEntropy, Xoshiro128 } from './random.ts';

test('xoshiro128** gives the numbers of the reference implementation', () => {
  const generator = new Xoshiro128([1, 2, 3, 4]);
  assert.deepEqual(
    Array.from({ length: 10 }, () => generator.next()),
    [
      11520, 0, 5927040, 70819200, 2031721883, 1637235492, 1287239034, 3734860849, 3729100597,
      4258142804,
    ],
  );
});

test('the all-zero state is repaired', () => {
  const generator = new Xoshiro128(zeroKey);
  const draws = new Set(Array.from({ length: 100 }, () => generator.next()));
  assert.ok(draws.size > 90);
});

test('MurmurHash3 x86_128 gives the published hashes', () => {
  const answers: readonly [text: string, seed: number, hash: string][] = [
    ['', 0, '00000000000000000000000000000000'],
    ['', 1, '88c4adec54d201b954d201b954d201b9'],
    ['0', 0, '0ab2409ea5eb34f8a5eb34f8a5eb34f8'],
    ['01', 0, '0f87acb4674f3b21674f3b21674f3b21'],
    ['I will not buy this record, it is scratched.', 0, 'a0a9683b25ac5e40d9af2895890dddf5'],
    ['The quick brown fox jumps over the lazy dog', 0, '2f1583c3ecee2c675d7bf66ce5e91d2c'],
    ['The quick brown fox jumps over the lazy dog', 1223, '7d485923d325727ccaadcb738425e1e4'],
  ];
  for (const [text, seed, expected] of answers) {
    const hash = new Murmur3([seed, seed, seed, seed]);
    addBytes(hash, new TextEncoder().encode(text));
    assert.equal(hash.finishHex(), expected, text);
  }
});

function addBytes(hash: Murmur3, bytes: Uint8Array): void {
  const padded = new DataView(new ArrayBuffer(bytes.length + 16));
  bytes.forEach((byte, at) => padded.setUint8(at, byte));
  const word = (at: number): number => padded.getInt32(at, true);
  const end = bytes.length & ~15;
  for (let at = 0; at < end; at += 16)
    hash.words(word(at), word(at + 4), word(at + 8), word(at + 12));
  hash.tail(word(end), word(end + 4), word(end + 8), word(end + 12), bytes.length - end);
}

test('our own answers stay: a change here would break every recorded seed', () => {
  const random = createRandom(42n);
  const root = [random.uint32(), random.uint32(), random.uint32()];
  assert.deepEqual(root, [2121212359, 2433551567, 1269661055]);
  const child = createRandom(42n).stream('a').stream('b');
  const below = [child.uint32(), child.uint32(), child.uint32()];
  assert.deepEqual(below, [3114149804, 2878371765, 4224381054]);
});

test('42n and "42" are one seed; neighbours are not', () => {
  const first = (seed: bigint | string): number => createRandom(seed).uint32();
  assert.equal(first(42n), first('42'));
  const firsts = new Set(Array.from({ length: 2000 }, (_, seed) => first(BigInt(seed))));
  assert.equal(firsts.size, 2000);
});

test('a stream depends on seed and name path, never on what was drawn', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.nat(20), (seed, name, drawCount) => {
      const fresh = createRandom(seed).stream(name);
      const parent = createRandom(seed);
      for (let i = 0; i < drawCount; i++) parent.uint32();
      parent.stream('other').uint32();
      const late = parent.stream(name);
      assert.deepEqual([late.uint32(), late.uint32()], [fresh.uint32(), fresh.uint32()]);
    }),
  );
});

test('different names and paths are different streams, lone surrogates included', () => {
  const paths = [['a'], ['b'], ['a', 'b'], ['b', 'a'], ['a/b'], ['ab'], [''], ['', '']];
  paths.push(['\ud800'], ['\udfff'], ['\ufffd'], ['a\0'], ['\0a'], ['__proto__']);
  const draws = paths.map((path) => {
    let random = createRandom(1n);
    for (const name of path) random = random.stream(name);
    return `${random.uint32()}-${random.uint32()}`;
  });
  assert.equal(new Set(draws).size, paths.length);
});

test('below stays below, is exact at its bounds, and is not biased', () => {
  const random = createRandom('below');
  for (const bound of [1, 2, 3, 2 ** 31 + 1, 2 ** 32]) {
    for (let i = 0; i < 200; i++) {
      const value = random.below(bound);
      assert.ok(Number.isInteger(value) && value >= 0 && value < bound, `${value} of ${bound}`);
    }
  }
  // Modulo alone would give the lower half of this bound twice the weight of the upper.
  const bound = 3 * 2 ** 30;
  const drawCount = 20_000;
  let lower = 0;
  for (let i = 0; i < drawCount; i++) if (random.below(bound) < 2 ** 30) lower++;
  assert.ok(Math.abs(lower / drawCount - 1 / 3) < 0.02, `${lower} of ${drawCount}`);
  for (const bad of [0, -1, 1.5, 2 ** 32 + 1, Number.NaN]) {
    assert.throws(() => random.below(bad), AssertionError);
  }
});

test('float is in [0, 1), uniform, and uses 53 bits', () => {
  const random = createRandom('float');
  const histogram = new Array<number>(10).fill(0);
  let usesLowBits = false;
  for (let i = 0; i < 20_000; i++) {
    const value = random.float();
    assert.ok(value >= 0 && value < 1);
    const bin = Math.floor(value * 10);
    histogram[bin] = (histogram[bin] ?? 0) + 1;
    if ((value * 2 ** 53) % 2 === 1) usesLowBits = true;
  }
  for (const count of histogram) assert.ok(Math.abs(count - 2000) < 250, String(histogram));
  assert.ok(usesLowBits);
});

test('seeded entropy repeats and covers all byte values', () => {
  const draw = (): Uint8Array => seededEntropy(createRandom(9n)).bytes(4096);
  assert.deepEqual(draw(), draw());
  assert.equal(new Set(draw()).size, 256);
});
