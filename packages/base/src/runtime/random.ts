// Seeded randomness for decisions that must replay. A stream is a 128-bit key; names are hashed
// into child keys (MurmurHash3 x86_128 started from the parent key), and numbers come from
// xoshiro128** seeded with that key. A child depends on seed and name path only, never on how
// much was drawn, so a new consumer does not shift the draws of old ones. Not for secrets:
// 64 bytes of output reveal the state.

import { assert } from '../assert.ts';
import { type Key128, textKey, zeroKey } from '../murmur3.ts';
import type { Entropy, Random } from './runtime.ts';

const TWO_32 = 0x1_0000_0000;

/** `42n` and `'42'` are one seed, so that a seed printed by a run can be passed back as a flag. */
export function createRandom(seed: bigint | string): Random {
  return new SeededRandom(textKey(String(seed), zeroKey));
}

/** Predictable bytes in place of system entropy, for simulation only. */
export function seededEntropy(random: Random): Entropy {
  return {
    bytes(count: number): Uint8Array {
      const bytes = new Uint8Array(count);
      for (let i = 0; i < count; i++) bytes[i] = random.uint32() >>> 24;
      return bytes;
    },
  };
}

class SeededRandom implements Random {
  readonly #key: Key128;
  readonly #generator: Xoshiro128;

  constructor(key: Key128) {
    this.#key = key;
    this.#generator = new Xoshiro128(key);
  }

  uint32(): number {
    return this.#generator.next();
  }

  float(): number {
    const high = this.#generator.next() >>> 5;
    const low = this.#generator.next() >>> 6;
    return (high * 0x400_0000 + low) / 0x20_0000_0000_0000;
  }

  below(bound: number): number {
    assert(Number.isInteger(bound) && bound >= 1 && bound <= TWO_32, 'bound outside [1, 2^32]', {
      bound,
    });
    // Values from the last, incomplete multiple of bound are drawn again: plain modulo would
    // favour small results. Fewer than half of all values are refused, so this ends.
    const limit = TWO_32 - (TWO_32 % bound);
    let value = this.#generator.next();
    while (value >= limit) value = this.#generator.next();
    return value % bound;
  }

  stream(name: string): Random {
    return new SeededRandom(textKey(name, this.#key));
  }
}

/**
 * xoshiro128** 1.1 (Blackman, Vigna): 32-bit operations only, so it is fast in JavaScript and gives
 * the same numbers on every machine.
 */
export class Xoshiro128 {
  #s0: number;
  #s1: number;
  #s2: number;
  #s3: number;

  constructor(key: Key128) {
    [this.#s0, this.#s1, this.#s2, this.#s3] = key;
    // The all-zero state is a fixed point that would return 0 for ever.
    if ((this.#s0 | this.#s1 | this.#s2 | this.#s3) === 0) this.#s0 = 0x9e3779b9 | 0;
  }

  next(): number {
    const s1 = this.#s1;
    const product = Math.imul(s1, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    this.#s2 ^= this.#s0;
    this.#s3 ^= s1;
    this.#s1 = s1 ^ this.#s2;
    this.#s0 ^= this.#s3;
    this.#s2 ^= s1 << 9;
    this.#s3 = (this.#s3 << 11) | (this.#s3 >>> 21);
    return result;
  }
}
