// The machines of one provider as their last rows showed them: id to digest, in typed arrays and one
// pool of id bytes, because half a million strings in a Map would be a hundred megabytes of heap.
// Entries only ever arrive: a full List fills a new table.
//
// Bound: the rows of a List and the machines that main names; about 30 bytes each, plus the id.

import { areEqualBetween } from '../list/byte-ranges.ts';

const FIRST_CAPACITY = 1024;
const FIRST_POOL: number = 32 * FIRST_CAPACITY;

export class SeenMachines {
  #count = 0;
  /** Entry plus 1 by hash of its id; 0 is free. A power of two, twice the capacity. */
  #slots: Int32Array;
  #hashes: Uint32Array;
  #starts: Uint32Array;
  #lengths: Uint32Array;
  /** Both 0: whatever the next row says, main looks at it. */
  #lows: Int32Array;
  #highs: Int32Array;
  #pool: Uint8Array;
  #poolView: DataView;
  #poolLength = 0;

  constructor(capacity: number = FIRST_CAPACITY) {
    let size = FIRST_CAPACITY;
    while (size < capacity) size *= 2;
    this.#slots = new Int32Array(2 * size);
    this.#hashes = new Uint32Array(size);
    this.#starts = new Uint32Array(size);
    this.#lengths = new Uint32Array(size);
    this.#lows = new Int32Array(size);
    this.#highs = new Int32Array(size);
    this.#pool = new Uint8Array(FIRST_POOL);
    this.#poolView = viewOf(this.#pool);
  }

  get count(): number {
    return this.#count;
  }

  /** The entry of an id that lies in `view`; −1 when there is none. */
  find(view: DataView, start: number, length: number, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const entry = this.#slots[at]! - 1;
      if (entry < 0) return -1;
      if (this.#hashes[entry] !== hash || this.#lengths[entry] !== length) continue;
      if (areEqualBetween(this.#poolView, this.#starts[entry]!, view, start, length)) {
        return entry;
      }
    }
  }

  /** Of an id that `find` did not find. Its digest is unknown. */
  add(id: Uint8Array, hash: number): number {
    const entry = this.#count;
    if (entry === this.#hashes.length) this.#grow();
    this.#count = entry + 1;
    this.#hashes[entry] = hash;
    this.#starts[entry] = this.#keep(id);
    this.#lengths[entry] = id.length;
    this.#lows[entry] = 0;
    this.#highs[entry] = 0;
    this.#place(entry);
    return entry;
  }

  hasDigest(entry: number, low: number, high: number): boolean {
    return this.#lows[entry] === low && this.#highs[entry] === high;
  }

  setDigest(entry: number, low: number, high: number): void {
    this.#lows[entry] = low;
    this.#highs[entry] = high;
  }

  forget(entry: number): void {
    this.setDigest(entry, 0, 0);
  }

  idOf(entry: number): string {
    const start = this.#starts[entry]!;
    const end = start + this.#lengths[entry]!;
    const { buffer, byteOffset } = this.#pool;
    return Buffer.from(buffer, byteOffset + start, end - start).toString('utf8');
  }

  #keep(id: Uint8Array): number {
    const start = this.#poolLength;
    const end = start + id.length;
    if (end > this.#pool.length) {
      const bigger = new Uint8Array(Math.max(2 * this.#pool.length, end));
      bigger.set(this.#pool);
      this.#pool = bigger;
      this.#poolView = viewOf(bigger);
    }
    this.#pool.set(id, start);
    this.#poolLength = end;
    return start;
  }

  #place(entry: number): void {
    const mask = this.#slots.length - 1;
    let at = this.#hashes[entry]! & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = entry + 1;
  }

  #grow(): void {
    const capacity = 2 * this.#hashes.length;
    this.#hashes = grown(this.#hashes, new Uint32Array(capacity));
    this.#starts = grown(this.#starts, new Uint32Array(capacity));
    this.#lengths = grown(this.#lengths, new Uint32Array(capacity));
    this.#lows = grown(this.#lows, new Int32Array(capacity));
    this.#highs = grown(this.#highs, new Int32Array(capacity));
    this.#slots = new Int32Array(2 * capacity);
    for (let entry = 0; entry < this.#count; entry++) this.#place(entry);
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function grown<T extends Uint32Array | Int32Array>(old: T, bigger: T): T {
  bigger.set(old);
  return bigger;
}
