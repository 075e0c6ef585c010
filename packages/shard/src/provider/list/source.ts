// The bytes of one List, and text out of them. Text is checked when a range is first met and
// made into a string only when somebody asks for it.

import { isUtf8 } from 'node:buffer';
import { isAscii } from './byte-ranges.ts';

export class Source {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #buffer: Buffer;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Protobuf strings are UTF-8; anything else would come back as another text. */
  isText(start: number, end: number): boolean {
    return isAscii(this.view, start, end) || isUtf8(this.bytes.subarray(start, end));
  }

  /** Of a range that `isText`. A leading byte-order mark stays. */
  text(start: number, end: number): string {
    const encoding = isAscii(this.view, start, end) ? 'latin1' : 'utf8';
    return this.#buffer.toString(encoding, start, end);
  }
}
