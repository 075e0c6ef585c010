// The one byte codec of records and traces, reading half, for bytes that may be garbage. The first
// impossible read sets `problem`; from then on everything reads as zero and nothing more is
// consumed, so a decoder of traces needs no exception and checks once per entry. A decoder of
// records hands over `onProblem`, which throws instead. Every number has one spelling only.

import { isCompact } from './byte-writer.ts';

const INT64_VARINT_BYTES = 10;
const UINT64_END = 1n << 64n;

/** A byte order mark at the start of an id is part of the id. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;
  #problem: string | undefined;
  readonly #onProblem: ((problem: string) => never) | undefined;

  constructor(bytes: Uint8Array, onProblem?: (problem: string) => never) {
    this.#bytes = bytes;
    this.#onProblem = onProblem;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get problem(): string | undefined {
    return this.#problem;
  }

  get hasFailed(): boolean {
    return this.#problem !== undefined;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  get remaining(): number {
    return this.#bytes.length - this.#at;
  }

  /** The first reason stays. */
  fail(problem: string): void {
    this.#problem ??= problem;
    this.#onProblem?.(problem);
  }

  byte(): number {
    if (!this.#has(1)) return 0;
    return this.#bytes[this.#at++]!;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (byte === 0 && count > 0) this.fail('a number has a second spelling');
        if (value > Number.MAX_SAFE_INTEGER) this.fail('a number is too large');
        return this.hasFailed ? 0 : value;
      }
      scale *= 0x80;
    }
    this.fail('a number is too long');
    return 0;
  }

  signed(): number {
    return unzigzag(this.varint());
  }

  signed64(): bigint {
    let value = 0n;
    for (let count = 0; count < INT64_VARINT_BYTES; count++) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << BigInt(7 * count);
      if (byte >= 0x80) continue;
      if (byte === 0 && count > 0) this.fail('a number has a second spelling');
      if (value >= UINT64_END) this.fail('a number is too large');
      if (this.hasFailed) return 0n;
      return (value & 1n) === 0n ? value >> 1n : -((value + 1n) >> 1n);
    }
    this.fail('a number is too long');
    return 0n;
  }

  uint32(): number {
    if (!this.#has(4)) return 0;
    this.#at += 4;
    return this.#view.getUint32(this.#at - 4, true);
  }

  number(): number {
    const tag = this.varint();
    if (tag > 0) return unzigzag(tag - 1);
    const value = this.realDouble();
    if (isCompact(value)) this.fail('a number has a second spelling');
    return value;
  }

  double(): number {
    if (!this.#has(8)) return 0;
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  /** A double that is no NaN. */
  realDouble(): number {
    const value = this.double();
    if (!Number.isNaN(value)) return value;
    this.fail('a number is NaN');
    return 0;
  }

  /** A number of things that take at least one byte each: garbage cannot ask for more. */
  count(): number {
    const value = this.varint();
    if (value <= this.remaining) return value;
    this.fail('a count exceeds the frame');
    return 0;
  }

  /** As many things as a count says, up to the first failure. */
  list<T>(readOne: () => T): T[] {
    const items: T[] = [];
    for (let left = this.count(); left > 0 && !this.hasFailed; left--) items.push(readOne());
    return items;
  }

  /** A view into the frame; empty after a failure. */
  bytes(length: number): Uint8Array {
    if (!this.#has(length)) return this.#bytes.subarray(0, 0);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** A length and UTF-8. */
  text(): string {
    const bytes = this.bytes(this.varint());
    try {
      return utf8.decode(bytes);
    } catch {
      // The one way in which this decoder says that the bytes are malformed.
      this.fail('a text is no UTF-8');
      return '';
    }
  }

  #has(length: number): boolean {
    if (this.#problem !== undefined) return false;
    if (length <= this.remaining) return true;
    this.fail('an entry ends too early');
    return false;
  }
}

function unzigzag(value: number): number {
  return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}
