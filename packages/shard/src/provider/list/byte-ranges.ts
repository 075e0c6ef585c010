// Hashing and comparing pieces of one buffer in place, a word at a time: the List decoder knows
// half a million strings that it has met before, and makes a JavaScript string for none of them.
//
// Cost: one pass over the range, no allocation (bench provider/list-columns). Not for secrets, and
// no defence against a peer that searches for collisions: a provider that wants to slow its own
// shard down has simpler means.

import { isUtf8 } from 'node:buffer';

const FIRST = 0x9e3779b1;
const SECOND = 0x85ebca6b;

/**
 * Two polynomials over alternate words, so that the processor works on both at once. The last
 * words may overlap with the ones before: that is cheaper than single bytes.
 */
export function hashRange(view: DataView, start: number, end: number): number {
  const length = end - start;
  if (length < 8) return hashShort(view, start, length);
  let even = length;
  let odd = 0;
  let at = start;
  for (; at + 8 <= end; at += 8) {
    even = (Math.imul(even, FIRST) + view.getInt32(at, true)) | 0;
    odd = (Math.imul(odd, SECOND) + view.getInt32(at + 4, true)) | 0;
  }
  if (at < end) {
    even = (Math.imul(even, FIRST) + view.getInt32(end - 8, true)) | 0;
    odd = (Math.imul(odd, SECOND) + view.getInt32(end - 4, true)) | 0;
  }
  return finish(even, odd);
}

function hashShort(view: DataView, start: number, length: number): number {
  if (length >= 4) {
    const last = view.getInt32(start + length - 4, true);
    return finish(Math.imul(length, FIRST) + view.getInt32(start, true), last);
  }
  let bytes = length;
  for (let at = 0; at < length; at++) bytes = (bytes << 8) | view.getUint8(start + at);
  return finish(bytes, 0);
}

/** Of the first `length` numbers. */
export function hashWords(values: Uint32Array, length: number): number {
  let even = length;
  let odd = 0;
  let at = 0;
  for (; at + 2 <= length; at += 2) {
    even = (Math.imul(even, FIRST) + values[at]!) | 0;
    odd = (Math.imul(odd, SECOND) + values[at + 1]!) | 0;
  }
  if (at < length) even = (Math.imul(even, FIRST) + values[at]!) | 0;
  return finish(even, odd);
}

/** Spreads every bit over all: the tables take the lowest ones. */
function finish(even: number, odd: number): number {
  const crossed = Math.imul(odd ^ (odd >>> 15), FIRST) ^ even;
  const mixed = Math.imul(crossed ^ (crossed >>> 16), SECOND);
  return mixed ^ (mixed >>> 13);
}

export function areEqualRanges(view: DataView, a: number, b: number, length: number): boolean {
  if (length < 8) return areEqualShort(view, a, b, length);
  for (let at = 0; at + 8 <= length; at += 8) {
    if (!areEqualWords(view, a + at, b + at)) return false;
  }
  return areEqualWords(view, a + length - 8, b + length - 8);
}

/** The same over two buffers; once per row, so single bytes at the end are cheap enough. */
export function areEqualBetween(
  left: DataView,
  a: number,
  right: DataView,
  b: number,
  length: number,
): boolean {
  let at = 0;
  for (; at + 4 <= length; at += 4) {
    if (left.getInt32(a + at, true) !== right.getInt32(b + at, true)) return false;
  }
  for (; at < length; at++) if (left.getUint8(a + at) !== right.getUint8(b + at)) return false;
  return true;
}

function areEqualWords(view: DataView, a: number, b: number): boolean {
  const low = view.getInt32(a, true) ^ view.getInt32(b, true);
  const high = view.getInt32(a + 4, true) ^ view.getInt32(b + 4, true);
  return (low | high) === 0;
}

function areEqualShort(view: DataView, a: number, b: number, length: number): boolean {
  for (let at = 0; at < length; at++) {
    if (view.getUint8(a + at) !== view.getUint8(b + at)) return false;
  }
  return true;
}

function isAscii(view: DataView, start: number, end: number): boolean {
  let seen = 0;
  if (end - start < 4) {
    for (let at = start; at < end; at++) seen |= view.getUint8(at);
    return seen < 0x80;
  }
  for (let at = start; at + 4 <= end; at += 4) seen |= view.getInt32(at, true);
  return ((seen | view.getInt32(end - 4, true)) & 0x80808080) === 0;
}

/** In a buffer of its own, so that a clone of it for another thread clones nothing else. */
export function joinBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

// The bytes of one List, and text out of them. Text is checked when a range is first met and
// made into a string only when it is read.

export class Source {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Protobuf strings are UTF-8; anything else would come back as another text. */
  isText(start: number, end: number): boolean {
    return isAscii(this.view, start, end) || isUtf8(this.bytes.subarray(start, end));
  }

  /** Of a range that `isText`. A leading byte-order mark stays. */
  text(start: number, end: number): string {
    const encoding = isAscii(this.view, start, end) ? 'latin1' : 'utf8';
    return this.#buffer.toString(encoding, start, end);
  }
}
