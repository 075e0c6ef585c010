// Bytes that come whole or in chunks of any size. A piece that lies in one chunk is a view of
// it; one that spans chunks is copied together. What a chunk is cut into is used up before the
// next chunk is asked for, so a caller may read a file through one buffer.

export type TraceSource = Uint8Array | Iterable<Uint8Array>;

const nothing: Uint8Array = new Uint8Array(0);

export class ByteSource {
  readonly #chunks: Iterator<Uint8Array>;
  #chunk: Uint8Array = nothing;
  #at = 0;
  #offset = 0;

  constructor(source: TraceSource) {
    const chunks = source instanceof Uint8Array ? [source] : source;
    this.#chunks = chunks[Symbol.iterator]();
  }

  /** How many bytes were taken. */
  get offset(): number {
    return this.#offset;
  }

  isAtEnd(): boolean {
    while (this.#at === this.#chunk.length) if (!this.#next()) return true;
    return false;
  }

  /** The next `length` bytes, or fewer where the source ends. Valid until the next call. */
  take(length: number): Uint8Array {
    if (this.isAtEnd()) return nothing;
    if (this.#chunk.length - this.#at >= length) return this.#cut(length);
    const whole = new Uint8Array(length);
    let filled = 0;
    while (filled < length && !this.isAtEnd()) {
      const piece = this.#cut(Math.min(length - filled, this.#chunk.length - this.#at));
      whole.set(piece, filled);
      filled += piece.length;
    }
    return filled === length ? whole : whole.subarray(0, filled);
  }

  #cut(length: number): Uint8Array {
    const piece = this.#chunk.subarray(this.#at, this.#at + length);
    this.#at += length;
    this.#offset += length;
    return piece;
  }

  #next(): boolean {
    const next = this.#chunks.next();
    this.#chunk = next.done === true ? nothing : next.value;
    this.#at = 0;
    return next.done !== true;
  }
}
