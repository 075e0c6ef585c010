// A map from two whole numbers to one that is above 0, for scratch that is filled and emptied many
// times in a cycle: a Map gives its memory away when it is cleared and makes a heap number of
// every key beyond 2³¹. Open addressing; emptying it costs nothing.

/** Numbers of one entry: both keys, the value, and which filling it belongs to. */
const FIRST = 0;
const SECOND = 1;
const VALUE = 2;
const FILLING = 3;
const ENTRY = 4;
/** What a cell can hold; beyond it, entries of the first fillings would come back. */
const MAX_FILLING = 2 ** 31 - 1;

export class PairTable {
  #cells: Int32Array = new Int32Array(64 * ENTRY);
  /** Entries that fit, minus 1: a power of two, twice what is held at most. */
  #mask = 63;
  #size = 0;
  #filling = 1;

  clear(): void {
    this.#size = 0;
    this.#filling += 1;
    if (this.#filling <= MAX_FILLING) return;
    this.#cells.fill(0);
    this.#filling = 1;
  }

  /** 0 for none. */
  get(first: number, second: number): number {
    const at = this.#find(first, second);
    return this.#cells[at + FILLING] === this.#filling ? this.#cells[at + VALUE]! : 0;
  }

  set(first: number, second: number, value: number): void {
    if (this.#size * 2 > this.#mask) this.#grow();
    const at = this.#find(first, second);
    if (this.#cells[at + FILLING] !== this.#filling) this.#size += 1;
    this.#cells[at + FIRST] = first;
    this.#cells[at + SECOND] = second;
    this.#cells[at + VALUE] = value;
    this.#cells[at + FILLING] = this.#filling;
  }

  /** Its cell, or the empty one where it belongs. */
  #find(first: number, second: number): number {
    const cells = this.#cells;
    let place = hash(first, second) & this.#mask;
    for (;;) {
      const at = place * ENTRY;
      if (cells[at + FILLING] !== this.#filling) return at;
      if (cells[at + FIRST] === first && cells[at + SECOND] === second) return at;
      place = (place + 1) & this.#mask;
    }
  }

  #grow(): void {
    const before = this.#cells;
    this.#cells = new Int32Array(before.length * 2);
    this.#mask = this.#mask * 2 + 1;
    for (let at = 0; at < before.length; at += ENTRY) {
      if (before[at + FILLING] !== this.#filling) continue;
      const to = this.#find(before[at + FIRST]!, before[at + SECOND]!);
      this.#cells.set(before.subarray(at, at + ENTRY), to);
    }
  }
}

function hash(first: number, second: number): number {
  const mixed = Math.imul(first ^ Math.imul(second, 0x85eb_ca6b), 0x9e37_79b1);
  return mixed ^ (mixed >>> 15);
}
