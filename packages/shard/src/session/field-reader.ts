// Walks the fields of one encoded message without looking into them: field number, wire type and
// byte range of each. Refuses what the framing check of the wire package refuses at the same level
// (overlong tags and varints, groups, lengths past the end), so that bytes that pass here and there
// mean the same. Allocates nothing per field.

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;
const MAX_TAG_BYTES = 5;
const MAX_FIELD = 0x1fff_ffff;

export class TopLevelReader {
  readonly #bytes: Uint8Array;
  #at = 0;
  #isMalformed = false;
  /** Of the current field; valid after next() returned true. */
  field = 0;
  wireType = 0;
  /** Where the tag begins. */
  start = 0;
  /** Where the value begins, the length prefix excluded. */
  valueStart = 0;
  /** Behind the last byte of the value. */
  end = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** False at the end, and at the first fault: then `isMalformed` says so. */
  next(): boolean {
    if (this.#isMalformed || this.#at >= this.#bytes.length) return false;
    this.start = this.#at;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.wireType = tag % 8;
    const isOverlong = this.#at - this.start > MAX_TAG_BYTES;
    if (isOverlong || this.field < 1 || this.field > MAX_FIELD) this.#isMalformed = true;
    if (!this.#isMalformed) this.#skipValue();
    if (this.#at > this.#bytes.length) this.#isMalformed = true;
    this.end = this.#at;
    return !this.#isMalformed;
  }

  /** A view of the current value, not a copy. */
  value(): Uint8Array {
    return this.#bytes.subarray(this.valueStart, this.end);
  }

  #skipValue(): void {
    this.valueStart = this.#at;
    switch (this.wireType) {
      case VARINT:
        this.#varint();
        return;
      case FIXED64:
        this.#at += 8;
        return;
      case FIXED32:
        this.#at += 4;
        return;
      case LENGTH_DELIMITED: {
        const length = this.#varint();
        this.valueStart = this.#at;
        this.#at += length;
        return;
      }
      default:
        this.#isMalformed = true;
    }
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    const limit = Math.min(this.#bytes.length, this.#at + MAX_VARINT_BYTES);
    while (this.#at < limit) {
      const byte = this.#bytes[this.#at] ?? 0;
      this.#at++;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    this.#isMalformed = true;
    return 0;
  }
}
