// The one byte codec of records and traces, writing half: a growing buffer of varints, exact
// doubles, short texts and raw bytes. Reused from cycle to cycle, so that writing allocates nothing
// once the buffer has its size. The writer encodes what fits and asserts the rest: a value that the
// format cannot hold is refused one level above, where the reason can be named.

import { assert } from '@bigfleet/base';

export class ByteWriter {
  #bytes: Uint8Array = new Uint8Array(4096);
  #view: DataView = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** What was written, as a view: valid until the next `clear`. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
  }

  /** Forgets everything behind the first `length` bytes. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  byte(value: number): void {
    this.#reserve(1);
    this.#bytes[this.#length++] = value;
  }

  /** A whole number in [0, 2⁵³). */
  varint(value: number): void {
    this.#reserve(8);
    this.#length = putVarint(this.#bytes, this.#length, value);
  }

  /** Several whole numbers at once: one check for room. */
  varints(a: number, b: number, c: number, d: number): void {
    this.#reserve(32);
    const bytes = this.#bytes;
    let at = putVarint(bytes, this.#length, a);
    at = putVarint(bytes, at, b);
    at = putVarint(bytes, at, c);
    this.#length = putVarint(bytes, at, d);
  }

  eightVarints(
    a: number,
    b: number,
    c: number,
    d: number,
    e: number,
    f: number,
    g: number,
    h: number,
  ): void {
    this.#reserve(64);
    const bytes = this.#bytes;
    let at = putVarint(bytes, this.#length, a);
    at = putVarint(bytes, at, b);
    at = putVarint(bytes, at, c);
    at = putVarint(bytes, at, d);
    at = putVarint(bytes, at, e);
    at = putVarint(bytes, at, f);
    at = putVarint(bytes, at, g);
    this.#length = putVarint(bytes, at, h);
  }

  /** Makes room for a byte that `patch` fills in later. */
  hole(): number {
    this.#reserve(1);
    return this.#length++;
  }

  patch(hole: number, value: number): void {
    this.#bytes[hole] = value;
  }

  /** A whole number of either sign, below 2⁵² in size. */
  signed(value: number): void {
    this.varint(zigzag(value));
  }

  /** A signed 64-bit number. */
  signed64(value: bigint): void {
    let rest = BigInt.asUintN(64, value < 0n ? (-value << 1n) - 1n : value << 1n);
    while (rest >= 0x80n) {
      this.byte(Number(rest & 0x7fn) | 0x80);
      rest >>= 7n;
    }
    this.byte(Number(rest));
  }

  /** Any number but NaN, exactly: whole ones as varints, all others in nine bytes. */
  number(value: number): void {
    assert(!Number.isNaN(value), 'a trace holds no NaN');
    if (isCompact(value)) {
      this.varint(zigzag(value) + 1);
      return;
    }
    this.byte(0);
    this.double(value);
  }

  uint32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  bytes(content: Uint8Array): void {
    this.#reserve(content.length);
    this.#bytes.set(content, this.#length);
    this.#length += content.length;
  }

  /** Length and UTF-8. Ids and fingerprints are ASCII, which needs no encoder. */
  text(value: string): void {
    const { length } = value;
    this.#reserve(length * 3 + 8);
    const bytes = this.#bytes;
    const start = this.#length;
    const content = start + (length < 0x80 ? 1 : 2);
    // One question at the end instead of one per character.
    let seen = 0;
    for (let at = 0; at < length; at++) {
      const code = value.charCodeAt(at);
      seen |= code;
      bytes[content + at] = code;
    }
    if (seen < 0x80 && length < 0x4000) {
      putVarint(bytes, start, length);
      this.#length = content + length;
      return;
    }
    const encoded = new TextEncoder().encode(value);
    this.varint(encoded.length);
    this.bytes(encoded);
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    bytes.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer);
  }
}

const COMPACT_LIMIT = 2 ** 52;

/** Whole, small enough for a varint, and not −0, which a varint would turn into 0. */
export function isCompact(value: number): boolean {
  return Number.isInteger(value) && Math.abs(value) < COMPACT_LIMIT && !Object.is(value, -0);
}

function zigzag(value: number): number {
  return value < 0 ? -value * 2 - 1 : value * 2;
}

/** Writes a whole number in [0, 2⁵³) and returns where it ended. Small, so that it is inlined. */
function putVarint(bytes: Uint8Array, start: number, value: number): number {
  if (value >= 0x80) return putLong(bytes, start, value);
  bytes[start] = value;
  return start + 1;
}

function putLong(bytes: Uint8Array, start: number, value: number): number {
  let at = start;
  let rest = value;
  while (rest > 0x7fff_ffff) {
    bytes[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  bytes[at] = rest;
  return at + 1;
}
