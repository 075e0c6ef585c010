// Walks the fields of one encoded message and reads the values that its caller asks for. It refuses
// what the framing check of the wire package refuses (overlong tags and varints, groups, lengths past
// the end, a value of another wire type than it is read as), because the protobuf library reads some
// corrupt bytes as another, plausible message. A fault in an inner message is a fault of the whole:
// every walk around it ends. Allocates one reader per message and nothing per field.

const VARINT = 0;
const FIXED64 = 1;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
const MAX_VARINT_BYTES = 10;
const MAX_TAG_BYTES = 5;
const MAX_FIELD = 0x1fff_ffff;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export class FieldReader {
  readonly #bytes: Buffer;
  readonly #end: number;
  readonly #outer: FieldReader | undefined;
  #at: number;
  #isMalformed = false;
  /** Of the current field; valid after next() returned true. */
  field = 0;
  #wireType = 0;
  /** Where the tag begins. */
  start = 0;
  /** Where the value begins, the length prefix excluded. */
  valueStart = 0;

  private constructor(bytes: Buffer, start: number, end: number, outer: FieldReader | undefined) {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#outer = outer;
  }

  static of({ buffer, byteOffset, byteLength }: Uint8Array): FieldReader {
    return new FieldReader(Buffer.from(buffer, byteOffset, byteLength), 0, byteLength, undefined);
  }

  get isMalformed(): boolean {
    return this.#isMalformed;
  }

  /** Behind the last byte of the current field. */
  get end(): number {
    return this.#at;
  }

  get isVarint(): boolean {
    return this.#wireType === VARINT;
  }

  get isDelimited(): boolean {
    return this.#wireType === LENGTH_DELIMITED;
  }

  /** False at the end, and at the first fault: then `isMalformed` says so. */
  next(): boolean {
    if (this.#isMalformed || this.#at >= this.#end) return false;
    this.start = this.#at;
    const tag = this.#varint();
    this.field = Math.floor(tag / 8);
    this.#wireType = tag % 8;
    const isOverlong = this.#at - this.start > MAX_TAG_BYTES;
    if (isOverlong || this.field < 1 || this.field > MAX_FIELD) this.fail();
    if (!this.#isMalformed) this.#skipValue();
    if (this.#at > this.#end) this.fail();
    return !this.#isMalformed;
  }

  /** The caller cannot read the current field. */
  fail(): void {
    this.#isMalformed = true;
    this.#outer?.fail();
  }

  /** A view of the current value, not a copy. */
  value(): Uint8Array {
    return this.#bytes.subarray(this.valueStart, this.#at);
  }

  /** The low 32 bits, as every decoder reads an int32 or an enum. */
  int32(): number {
    if (!this.isVarint) this.fail();
    let bits = 0;
    for (let at = this.valueStart, shift = 0; at < this.#at && shift < 32; at++, shift += 7) {
      bits |= (this.#bytes[at]! & 0x7f) << shift;
    }
    return bits;
  }

  int64(): bigint {
    if (!this.isVarint) this.fail();
    let bits = 0n;
    for (let at = this.#at - 1; at >= this.valueStart; at--) {
      bits = (bits << 7n) | BigInt(this.#bytes[at]! & 0x7f);
    }
    return BigInt.asIntN(64, bits);
  }

  /** Empty for bytes that are no text: the message is malformed then. */
  text(): string {
    if (!this.isDelimited) this.fail();
    for (let at = this.valueStart; at < this.#at; at++) {
      if (this.#bytes[at]! >= 0x80) return this.#unicode();
    }
    return this.#bytes.toString('latin1', this.valueStart, this.#at);
  }

  /** The current value as a message of its own. */
  inner(): FieldReader {
    if (!this.isDelimited) this.fail();
    return new FieldReader(this.#bytes, this.valueStart, this.#at, this);
  }

  #unicode(): string {
    try {
      return utf8.decode(this.value());
    } catch {
      this.fail();
      return '';
    }
  }

  #skipValue(): void {
    this.valueStart = this.#at;
    switch (this.#wireType) {
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
        this.fail();
    }
  }

  #varint(): number {
    let value = 0;
    let scale = 1;
    const limit = Math.min(this.#end, this.#at + MAX_VARINT_BYTES);
    while (this.#at < limit) {
      const byte = this.#bytes[this.#at]!;
      this.#at++;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
    this.fail();
    return 0;
  }
}
