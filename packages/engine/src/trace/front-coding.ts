// A series of texts, each as what it adds to the one before it: ids and host references of
// neighbours share most of their bytes. One byte holds both lengths when they are short.

import type { ByteReader } from '../bytes/byte-reader.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { MAX_TEXT_BYTES } from './limits.ts';
import { decodeText, encodeText } from './text-bytes.ts';

const NIBBLE = 15;

export class FrontEncoder {
  #before: Uint8Array = new Uint8Array(64);
  #beforeLength = 0;
  #current: Uint8Array = new Uint8Array(64);

  /** Bytes of the text written last. */
  get length(): number {
    return this.#beforeLength;
  }

  /** False, and nothing written, when the text is longer than a trace allows. */
  write(text: string, out: ByteWriter): boolean {
    if (text.length > MAX_TEXT_BYTES) return false;
    const room = text.length * 3;
    if (this.#current.length < room) this.#current = new Uint8Array(room * 2);
    const current = this.#current;
    const length = encodeText(text, current);
    if (length > MAX_TEXT_BYTES) return false;
    const shared = this.#sharedWith(length);
    writeLengths(shared, length - shared, out);
    out.bytes(current.subarray(shared, length));
    this.#current = this.#before;
    this.#before = current;
    this.#beforeLength = length;
    return true;
  }

  #sharedWith(length: number): number {
    const limit = Math.min(length, this.#beforeLength);
    let shared = 0;
    while (shared < limit && this.#current[shared] === this.#before[shared]) shared += 1;
    return shared;
  }
}

export class FrontDecoder {
  #before: Uint8Array = new Uint8Array(64);
  #beforeLength = 0;

  /** Bytes of the text read last. */
  get length(): number {
    return this.#beforeLength;
  }

  read(reader: ByteReader): string {
    const lengths = reader.byte();
    const shared = (lengths >>> 4) + (lengths >>> 4 === NIBBLE ? reader.varint() : 0);
    const added = (lengths & NIBBLE) + ((lengths & NIBBLE) === NIBBLE ? reader.varint() : 0);
    const suffix = reader.bytes(added);
    if (shared > this.#beforeLength) reader.fail('a text continues one that is shorter');
    if (shared + added > MAX_TEXT_BYTES) reader.fail('a text is too long');
    if (reader.hasFailed) return '';
    const text = decodeText(this.#append(shared, suffix));
    if (text !== undefined) return text;
    reader.fail('a text is not well formed');
    return '';
  }

  #append(shared: number, suffix: Uint8Array): Uint8Array {
    const length = shared + suffix.length;
    if (length > this.#before.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(this.#before.subarray(0, shared));
      this.#before = grown;
    }
    this.#before.set(suffix, shared);
    this.#beforeLength = length;
    return this.#before.subarray(0, length);
  }
}

function writeLengths(shared: number, added: number, out: ByteWriter): void {
  out.byte((Math.min(shared, NIBBLE) << 4) | Math.min(added, NIBBLE));
  if (shared >= NIBBLE) out.varint(shared - NIBBLE);
  if (added >= NIBBLE) out.varint(added - NIBBLE);
}
