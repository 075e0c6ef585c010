// A growing buffer of varints, doubles and raw bytes, reused from entry to entry. It encodes
// what fits and asserts the rest: what a trace cannot hold is refused one level above, where
// the reason can be named.

import { assert } from '@bigfleet/base';

export class ByteWriter {
  #bytes: Uint8Array = new Uint8Array(256);
  #view: DataView = new DataView(this.#bytes.buffer);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** A view, valid until the next write or `clear`. */
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
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** A whole number of either sign, below 2⁵² in size. */
  signed(value: number): void {
    this.varint(value < 0 ? -value * 2 - 1 : value * 2);
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

  uint32(value: number): void {
    this.#reserve(4);
    this.#view.setUint32(this.#length, value, true);
    this.#length += 4;
  }

  /** Any number but NaN, exactly: whole ones as varints, all others in nine bytes. */
  number(value: number): void {
    assert(!Number.isNaN(value), 'a trace holds no NaN');
    if (isCompact(value)) {
      this.varint((value < 0 ? -value * 2 - 1 : value * 2) + 1);
      return;
    }
    this.byte(0);
    this.double(value);
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
