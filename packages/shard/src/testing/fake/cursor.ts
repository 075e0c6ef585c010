// The opaque revision of a List: which life of the store, and how far. A cursor of another life,
// from beyond the head or of another shape means nothing here, and the answer is the full list.

const INCARNATION_BYTES = 16;
const CURSOR_BYTES: number = INCARNATION_BYTES + 8;

export class Cursors {
  readonly #incarnation: Uint8Array;

  /** 16 unpredictable bytes, drawn anew at every start. */
  constructor(incarnation: Uint8Array) {
    this.#incarnation = incarnation;
  }

  encode(revision: number): Uint8Array {
    const bytes = new Uint8Array(CURSOR_BYTES);
    bytes.set(this.#incarnation);
    new DataView(bytes.buffer).setBigUint64(INCARNATION_BYTES, BigInt(revision));
    return bytes;
  }

  /** Undefined: no cursor of ours, list everything. */
  decode(cursor: Uint8Array, head: number): number | undefined {
    if (cursor.length !== CURSOR_BYTES) return undefined;
    for (let at = 0; at < INCARNATION_BYTES; at++) {
      if (cursor[at] !== this.#incarnation[at]) return undefined;
    }
    const view = new DataView(cursor.buffer, cursor.byteOffset, cursor.byteLength);
    const revision = view.getBigUint64(INCARNATION_BYTES);
    return revision <= BigInt(head) ? Number(revision) : undefined;
  }
}
