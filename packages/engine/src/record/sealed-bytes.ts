// How records and dispositions are sealed and opened again. A word-wise checksum finds torn and
// flipped bytes at a fraction of a CRC's cost, because a full pass writes megabytes; it is not a
// signature and does not stop an attacker. Behind it every read is bounded, and an impossible one
// throws RecordError.

import { ByteReader } from '../bytes/byte-reader.ts';

export class RecordError extends Error {
  override readonly name = 'RecordError';
}

export function recordReader(bytes: Uint8Array): ByteReader {
  return new ByteReader(bytes, (problem) => {
    throw new RecordError(problem);
  });
}

const MULTIPLIER = 0x9e37_79b1;

/** 32 bits over all of the bytes, their length included. */
export function checksum(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.length & ~15;
  // Four hashes side by side: one would wait for each of its own multiplications.
  let a = bytes.length | 0;
  let b = 0x3c6e_f372;
  let c = 0x1b87_3593;
  let d = 0x2545_f491;
  for (let at = 0; at < end; at += 16) {
    a = mix(a, view.getUint32(at, true));
    b = mix(b, view.getUint32(at + 4, true));
    c = mix(c, view.getUint32(at + 8, true));
    d = mix(d, view.getUint32(at + 12, true));
  }
  let hash = mix(mix(mix(a, b), c), d);
  for (let at = end; at < bytes.length; at++) hash = mix(hash, bytes[at]! + 1);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85eb_ca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Every step can be undone, so two inputs that differ in one word never meet again. */
function mix(hash: number, word: number): number {
  const mixed = Math.imul(hash ^ word, MULTIPLIER);
  return (mixed << 13) | (mixed >>> 19);
}
