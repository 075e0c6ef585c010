// xoshiro128** 1.1 (Blackman, Vigna): 32-bit operations only, so it is fast in JavaScript and
// gives the same numbers on every machine. Known answers in ../random.test.ts.

import type { Key128 } from './murmur3.ts';

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
