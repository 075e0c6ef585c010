// A growing buffer for protobuf fields. Only what Machine and MachineList need; proto3 leaves out
// defaults, so an empty string or a zero writes nothing. A nested message is written in place: room
// for a likely length is reserved, and the body moves by a byte or two when the guess was wrong.

const FIRST_CAPACITY = 512;
const VARINT = 0;
const FIXED64 = 1;
const LEN = 2;
/** UTF-8 needs at most three bytes per UTF-16 unit. */
const MAX_BYTES_PER_UNIT = 3;
const MAX_HEADER_BYTES = 12;

export class ProtobufWriter {
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #at = 0;

  get length(): number {
    return this.#at;
  }

  /** A copy of what was written; the writer starts over. */
  finish(): Uint8Array {
    const bytes = new Uint8Array(this.#at);
    bytes.set(this.#buffer.subarray(0, this.#at));
    this.#at = 0;
    return bytes;
  }

  string(field: number, text: string): void {
    if (text === '') return;
    this.#text(field, text);
  }

  uint(field: number, value: number): void {
    if (value === 0) return;
    this.#reserve(MAX_HEADER_BYTES);
    this.#varint(field * 8 + VARINT);
    this.#varint(value);
  }

  double(field: number, value: number): void {
    if (value === 0) return;
    this.#reserve(MAX_HEADER_BYTES + 8);
    this.#varint(field * 8 + FIXED64);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  bytes(field: number, value: Uint8Array): void {
    this.#reserve(MAX_HEADER_BYTES + value.length);
    this.#varint(field * 8 + LEN);
    this.#varint(value.length);
    this.raw(value);
  }

  /** Encoded fields as they are. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  message(field: number, body: () => void): void {
    this.#reserve(MAX_HEADER_BYTES);
    this.#varint(field * 8 + LEN);
    const lengthAt = this.#at;
    this.#at += 1;
    body();
    this.#closeMessage(lengthAt);
  }

  mapEntries(field: number, map: ReadonlyMap<string, string>): void {
    for (const [key, value] of map) {
      this.#reserve(MAX_HEADER_BYTES);
      this.#varint(field * 8 + LEN);
      const lengthAt = this.#at;
      this.#at += 1;
      this.#text(1, key);
      this.#text(2, value);
      this.#closeMessage(lengthAt);
    }
  }

  #closeMessage(lengthAt: number): void {
    const bodyLength = this.#at - lengthAt - 1;
    const extra = varintSize(bodyLength) - 1;
    if (extra > 0) {
      this.#reserve(extra);
      this.#buffer.copyWithin(lengthAt + 1 + extra, lengthAt + 1, this.#at);
    }
    this.#at = lengthAt;
    this.#varint(bodyLength);
    this.#at += bodyLength;
  }

  #text(field: number, text: string): void {
    this.#reserve(MAX_HEADER_BYTES + text.length * MAX_BYTES_PER_UNIT);
    this.#varint(field * 8 + LEN);
    this.#varint(Buffer.byteLength(text));
    this.#at += this.#buffer.write(text, this.#at, 'utf8');
  }

  #varint(value: number): void {
    let rest = value;
    while (rest >= 0x80) {
      this.#buffer[this.#at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#buffer[this.#at++] = rest;
  }

  #reserve(count: number): void {
    const needed = this.#at + count;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, this.#buffer.length * 2));
    this.#buffer.copy(grown, 0, 0, this.#at);
    this.#buffer = grown;
  }
}

function varintSize(value: number): number {
  let size = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) size++;
  return size;
}
