// Seeded randomness for decisions that must replay. A stream is a 128-bit key; names are hashed
// into child keys (MurmurHash3 x86_128 started from the parent key), and numbers come from
// xoshiro128** seeded with that key. A child depends on seed and name path only, never on how
// much was drawn, so a new consumer does not shift the draws of old ones. Not for secrets:
// 64 bytes of output reveal the state.

import { assert } from './assert.ts';
import { type Key128, murmur3x86x128, zeroKey } from './internal/murmur3.ts';
import { Xoshiro128 } from './internal/xoshiro128.ts';
import type { Entropy, Random } from './runtime/runtime.ts';

const TWO_32 = 0x1_0000_0000;

/** `42n` and `'42'` are one seed, so that a seed printed by a run can be passed back as a flag. */
export function createRandom(seed: bigint | string): Random {
  return new SeededRandom(murmur3x86x128(utf16Bytes(String(seed)), zeroKey));
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
    return new SeededRandom(murmur3x86x128(utf16Bytes(name), this.#key));
  }
}

/** Code units, not UTF-8: two different strings never become one, lone surrogates included. */
function utf16Bytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bytes[2 * i] = unit & 0xff;
    bytes[2 * i + 1] = unit >>> 8;
  }
  return bytes;
}
