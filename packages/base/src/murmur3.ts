// MurmurHash3 x86_128 (Appleby), fed in whole blocks of four words, and over the code units of a
// text. It starts from a full 128-bit key instead of one 32-bit seed, so that hashing a name into
// the key of a stream loses nothing of the parent key; with four equal words it is the published
// function. Code units and not UTF-8: two different texts never become one, lone surrogates
// included. It mixes well; it does not resist an adversary who chooses the input.
//
// Seeds of recorded runs and hashes of recorded actions come from here: a changed bit breaks both.

const C1 = 0x239b_961b | 0;
const C2 = 0xab0e_9789 | 0;
const C3 = 0x38b3_4ae5 | 0;
const C4 = 0xa1e3_8b93 | 0;

const BLOCK_BYTES = 16;

export type Key128 = readonly [number, number, number, number];

export const zeroKey: Key128 = [0, 0, 0, 0];

export interface TextDigest {
  readonly low: number;
  readonly high: number;
}

export class Murmur3 {
  #h1: number;
  #h2: number;
  #h3: number;
  #h4: number;
  #byteCount = 0;

  constructor(key: Key128 = zeroKey) {
    [this.#h1, this.#h2, this.#h3, this.#h4] = key;
  }

  /** One block. */
  words(w1: number, w2: number, w3: number, w4: number): void {
    this.#h1 ^= mix1(w1);
    this.#h1 = (Math.imul((rotl(this.#h1, 19) + this.#h2) | 0, 5) + 0x561c_cd1b) | 0;
    this.#h2 ^= mix2(w2);
    this.#h2 = (Math.imul((rotl(this.#h2, 17) + this.#h3) | 0, 5) + 0x0bca_a747) | 0;
    this.#h3 ^= mix3(w3);
    this.#h3 = (Math.imul((rotl(this.#h3, 15) + this.#h4) | 0, 5) + 0x96cd_1c35) | 0;
    this.#h4 ^= mix4(w4);
    this.#h4 = (Math.imul((rotl(this.#h4, 13) + this.#h1) | 0, 5) + 0x32ac_3b17) | 0;
    this.#byteCount += BLOCK_BYTES;
  }

  /** The rest that fills no block, with zeroes where it ends. */
  tail(w1: number, w2: number, w3: number, w4: number, byteCount: number): void {
    this.#h1 ^= mix1(w1);
    this.#h2 ^= mix2(w2);
    this.#h3 ^= mix3(w3);
    this.#h4 ^= mix4(w4);
    this.#byteCount += byteCount;
  }

  /** All 128 bits; the state is used up. */
  finish(): Key128 {
    this.#finalize();
    return [this.#h1, this.#h2, this.#h3, this.#h4];
  }

  /** 32 hex digits; the state is used up. */
  finishHex(): string {
    return this.finish().map(hex).join('');
  }

  /** The first 64 bits; the state is used up. */
  finishDigest(): TextDigest {
    this.#finalize();
    return { low: this.#h1, high: this.#h2 };
  }

  #finalize(): void {
    const length = this.#byteCount;
    this.#spread(this.#h1 ^ length, this.#h2 ^ length, this.#h3 ^ length, this.#h4 ^ length);
    this.#spread(
      avalanche(this.#h1),
      avalanche(this.#h2),
      avalanche(this.#h3),
      avalanche(this.#h4),
    );
  }

  #spread(h1: number, h2: number, h3: number, h4: number): void {
    const sum = (h1 + h2 + h3 + h4) | 0;
    this.#h1 = sum;
    this.#h2 = (h2 + sum) | 0;
    this.#h3 = (h3 + sum) | 0;
    this.#h4 = (h4 + sum) | 0;
  }
}

/** The first 64 bits over a text. */
export function textDigest(text: string): TextDigest {
  const hash = new Murmur3();
  addText(hash, text);
  return hash.finishDigest();
}

/** All 128 bits over a text, started from `key`. */
export function textKey(text: string, key: Key128): Key128 {
  const hash = new Murmur3(key);
  addText(hash, text);
  return hash.finish();
}

function addText(hash: Murmur3, text: string): void {
  const end = text.length & ~7;
  for (let at = 0; at < end; at += 8) {
    hash.words(wordAt(text, at), wordAt(text, at + 2), wordAt(text, at + 4), wordAt(text, at + 6));
  }
  hash.tail(
    tailWord(text, end),
    tailWord(text, end + 2),
    tailWord(text, end + 4),
    tailWord(text, end + 6),
    (text.length - end) * 2,
  );
}

function wordAt(text: string, at: number): number {
  return text.charCodeAt(at) | (text.charCodeAt(at + 1) << 16);
}

/** `charCodeAt` behind the end is NaN, which `|` reads as zero: a missing unit. */
function tailWord(text: string, at: number): number {
  return at < text.length ? wordAt(text, at) : 0;
}

function mix1(word: number): number {
  return Math.imul(rotl(Math.imul(word, C1), 15), C2);
}

function mix2(word: number): number {
  return Math.imul(rotl(Math.imul(word, C2), 16), C3);
}

function mix3(word: number): number {
  return Math.imul(rotl(Math.imul(word, C3), 17), C4);
}

function mix4(word: number): number {
  return Math.imul(rotl(Math.imul(word, C4), 18), C1);
}

function rotl(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function avalanche(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85eb_ca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2_ae35);
  return h ^ (h >>> 16);
}

function hex(word: number): string {
  return (word >>> 0).toString(16).padStart(8, '0');
}
