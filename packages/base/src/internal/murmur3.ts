// MurmurHash3 x86_128 (Appleby), started from a full 128-bit key instead of one 32-bit seed, so
// that hashing a name into a stream key loses nothing of the parent key. With four equal words it
// is the published function (known answers in ../random.test.ts). It mixes; it does not protect
// against an adversary who chooses the input.

export type Key128 = readonly [number, number, number, number];

export const zeroKey: Key128 = [0, 0, 0, 0];

const C1 = 0x239b961b | 0;
const C2 = 0xab0e9789 | 0;
const C3 = 0x38b34ae5 | 0;
const C4 = 0xa1e38b93 | 0;

export function murmur3x86x128(bytes: Uint8Array, key: Key128): Key128 {
  let [h1, h2, h3, h4] = key;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const blocksEnd = bytes.length & ~15;
  for (let at = 0; at < blocksEnd; at += 16) {
    h1 ^= Math.imul(rotl(Math.imul(view.getInt32(at, true), C1), 15), C2);
    h1 = (Math.imul((rotl(h1, 19) + h2) | 0, 5) + 0x561ccd1b) | 0;
    h2 ^= Math.imul(rotl(Math.imul(view.getInt32(at + 4, true), C2), 16), C3);
    h2 = (Math.imul((rotl(h2, 17) + h3) | 0, 5) + 0x0bcaa747) | 0;
    h3 ^= Math.imul(rotl(Math.imul(view.getInt32(at + 8, true), C3), 17), C4);
    h3 = (Math.imul((rotl(h3, 15) + h4) | 0, 5) + 0x96cd1c35) | 0;
    h4 ^= Math.imul(rotl(Math.imul(view.getInt32(at + 12, true), C4), 18), C1);
    h4 = (Math.imul((rotl(h4, 13) + h1) | 0, 5) + 0x32ac3b17) | 0;
  }
  // A tail shorter than a word contributes zero words, and mixing a zero word changes nothing.
  h4 ^= Math.imul(rotl(Math.imul(tailWord(bytes, blocksEnd + 12), C4), 18), C1);
  h3 ^= Math.imul(rotl(Math.imul(tailWord(bytes, blocksEnd + 8), C3), 17), C4);
  h2 ^= Math.imul(rotl(Math.imul(tailWord(bytes, blocksEnd + 4), C2), 16), C3);
  h1 ^= Math.imul(rotl(Math.imul(tailWord(bytes, blocksEnd), C1), 15), C2);
  return finish([h1, h2, h3, h4], bytes.length);
}

function finish(state: Key128, length: number): Key128 {
  const [a1, a2, a3, a4] = addFirstToAll(state.map((word) => word ^ length));
  return addFirstToAll([avalanche(a1), avalanche(a2), avalanche(a3), avalanche(a4)]);
}

function addFirstToAll(words: readonly number[]): Key128 {
  const [w1 = 0, w2 = 0, w3 = 0, w4 = 0] = words;
  const sum = (w1 + w2 + w3 + w4) | 0;
  return [sum, (w2 + sum) | 0, (w3 + sum) | 0, (w4 + sum) | 0];
}

/** Up to four bytes at `from`, little-endian, missing ones as zero. */
function tailWord(bytes: Uint8Array, from: number): number {
  let word = 0;
  for (let i = 0; i < 4; i++) word |= (bytes[from + i] ?? 0) << (8 * i);
  return word;
}

function rotl(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by));
}

function avalanche(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
