// The counterpart of the writer, for bytes that may come from a damaged file: every read is
// bounded by what is there, and anything else throws RecordError.

/** A byte order mark at the start of an id is part of the id. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class RecordError extends Error {
  override readonly name = 'RecordError';
}

export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.#take(1)] as number;
  }

  varint(): number {
    let value = 0;
    let scale = 1;
    for (let count = 0; count < 8; count++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        return value;
      }
      scale *= 0x80;
    }
    throw new RecordError('a number is too large');
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), true);
  }

  double(): number {
    return this.#view.getFloat64(this.#take(8), true);
  }

  bytes(length: number): Uint8Array {
    const start = this.#take(length);
    return this.#bytes.subarray(start, start + length);
  }

  text(): string {
    try {
      return utf8.decode(this.bytes(this.varint()));
    } catch (cause) {
      if (cause instanceof RecordError) throw cause;
      throw new RecordError('a text is no UTF-8', { cause });
    }
  }

  /** A count of things that take at least one byte each: garbage cannot ask for more. */
  count(): number {
    const value = this.varint();
    if (value > this.#bytes.length - this.#at) throw new RecordError('a count exceeds the record');
    return value;
  }

  #take(length: number): number {
    const start = this.#at;
    if (start + length > this.#bytes.length) throw new RecordError('the record ends too early');
    this.#at += length;
    return start;
  }
}
