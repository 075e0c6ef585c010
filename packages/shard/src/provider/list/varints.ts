// Varints of more than one byte. The hot loops read single bytes themselves and come here for
// the rest, so speed does not matter; strictness does: the same spellings are refused as by
// wire's framing check, or a List could mean one thing here and another elsewhere.

const MAX_BYTES = 10;
const MAX_TAG_BYTES = 5;
const MAX_TAG = 0xffff_ffff;

export class Varints {
  readonly #bytes: Uint8Array;
  /** Where the byte after the last varint is. */
  next = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** −1 when it does not end before `end`. Exact up to 2⁵³, which is beyond any length. */
  read(start: number, end: number): number {
    // One and two bytes, which is nearly all, without floating point.
    if (start + 2 <= end) {
      const low = this.#bytes[start]!;
      this.next = start + 1;
      if (low < 0x80) return low;
      const high = this.#bytes[start + 1]!;
      this.next = start + 2;
      if (high < 0x80) return (low & 0x7f) | (high << 7);
    }
    return this.#readLong(start, end);
  }

  #readLong(start: number, end: number): number {
    const limit = Math.min(end, start + MAX_BYTES);
    let value = 0;
    let scale = 1;
    for (let at = start; at < limit; at++) {
      const byte = this.#bytes[at]!;
      value += (byte & 0x7f) * scale;
      scale *= 128;
      if (byte < 0x80) {
        this.next = at + 1;
        return value;
      }
    }
    return -1;
  }

  /** A field's number and wire type; −1 when it is no legal tag. */
  readTag(start: number, end: number): number {
    const tag = this.read(start, end);
    if (tag < 8 || tag > MAX_TAG || this.next - start > MAX_TAG_BYTES) return -1;
    return tag;
  }

  /** The low 32 bits, as every decoder reads an enum. Check with `read` first that it ends. */
  readInt32(start: number): number {
    let value = 0;
    for (let at = start, shift = 0; shift < 35; at++, shift += 7) {
      const byte = this.#bytes[at]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value;
  }

  /** Where a value that is skipped ends; −1 when it does not, or is a group. */
  skip(wireType: number, start: number, end: number): number {
    let after = -1;
    if (wireType === 0) after = this.read(start, end) < 0 ? -1 : this.next;
    else if (wireType === 1) after = start + 8;
    else if (wireType === 5) after = start + 4;
    else if (wireType === 2) {
      const length = this.read(start, end);
      after = length < 0 ? -1 : this.next + length;
    }
    return after <= end ? after : -1;
  }
}
