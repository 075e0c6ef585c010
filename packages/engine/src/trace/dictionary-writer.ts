// The writer's half of the dictionaries. A text or a body (the encoded fields of a shape, a
// profile, a row) is defined in front of the first entry that uses it and named by number from
// then on. Bodies are compared by their bytes, so equal values share an entry whoever made them.

import { ByteTable } from './byte-table.ts';
import type { ByteWriter } from '../bytes/byte-writer.ts';
import { Op } from './format.ts';
import { FrontEncoder } from './front-coding.ts';
import { MAX_TEXT_BYTES } from './limits.ts';

export type BodyOp =
  | typeof Op.defineResources
  | typeof Op.defineShape
  | typeof Op.defineAssignment
  | typeof Op.defineProfile
  | typeof Op.defineNeed;

const BODY_OPS = Op.defineNeed + 1;

export class DictionaryWriter {
  readonly #out: ByteWriter;
  #entryCount = 0;
  #byteCount = 0;
  readonly #texts = new Map<string, number>();
  #textFront = new FrontEncoder();
  readonly #ids = new Map<string, number>();
  #idFront = new FrontEncoder();
  readonly #bodies: readonly ByteTable[] = Array.from({ length: BODY_OPS }, () => new ByteTable());

  /** Definitions are appended to `out`. */
  constructor(out: ByteWriter) {
    this.#out = out;
  }

  get entryCount(): number {
    return this.#entryCount;
  }

  get byteCount(): number {
    return this.#byteCount;
  }

  /** Undefined when the text is too long for a trace. */
  text(text: string): number | undefined {
    if (text === '') return 0;
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (text.length > MAX_TEXT_BYTES) return undefined;
    const start = this.#out.length;
    this.#out.byte(Op.defineText);
    if (!this.#textFront.write(text, this.#out)) {
      this.#out.truncate(start);
      return undefined;
    }
    return this.#add(this.#texts, text, this.#textFront.length);
  }

  /** Inside an entry: the number of a known id, or 0 and the id. False when it is too long. */
  id(id: string, entry: ByteWriter): boolean {
    const known = this.#ids.get(id);
    if (known !== undefined) {
      entry.varint(known);
      return true;
    }
    entry.varint(0);
    if (!this.#idFront.write(id, entry)) return false;
    this.#add(this.#ids, id, this.#idFront.length);
    return true;
  }

  body(op: BodyOp, body: ByteWriter): number {
    const bytes = body.written;
    const bodies = this.#bodies[op] as ByteTable;
    const known = bodies.find(bytes);
    if (known > 0) return known;
    this.#out.byte(op);
    this.#out.bytes(bytes);
    this.#entryCount += 1;
    this.#byteCount += bytes.length;
    return bodies.add(bytes);
  }

  reset(): void {
    this.#out.byte(Op.reset);
    this.#entryCount = 0;
    this.#byteCount = 0;
    this.#texts.clear();
    this.#ids.clear();
    for (const bodies of this.#bodies) bodies.clear();
    this.#textFront = new FrontEncoder();
    this.#idFront = new FrontEncoder();
  }

  #add(table: Map<string, number>, key: string, bytes: number): number {
    const number = table.size + 1;
    table.set(key, number);
    this.#entryCount += 1;
    this.#byteCount += bytes;
    return number;
  }
}
