// Machine id to slot. An open table of slots over the hashes that the columns keep anyway: eight
// bytes per machine where a Map of strings takes several times that. Linear probing; removal
// moves later entries back, so there are no tombstones to clean up.

import type { Columns } from './columns.ts';
import { hashText } from './input-digest.ts';

/** Slots per entry: half full at most, so that probes stay short. */
const MIN_CAPACITY = 1024;

export class IdIndex {
  readonly #ids: readonly string[];
  readonly #columns: Columns;
  /** Slot plus 1; 0 is free. The length is a power of two. */
  #table: Int32Array = new Int32Array(MIN_CAPACITY);
  #size = 0;

  /** `ids[slot]` and `columns.idHash[slot]` belong to every slot that is in here. */
  constructor(ids: readonly string[], columns: Columns) {
    this.#ids = ids;
    this.#columns = columns;
  }

  get size(): number {
    return this.#size;
  }

  /** −1 when unknown. */
  find(id: string): number {
    const mask = this.#table.length - 1;
    for (let at = hashText(id) & mask; ; at = (at + 1) & mask) {
      const slot = this.#table[at]! - 1;
      if (slot < 0 || this.#ids[slot] === id) return slot;
    }
  }

  /** The id must not be in here yet. */
  add(slot: number): void {
    this.#size += 1;
    if (this.#size * 2 > this.#table.length) this.#grow();
    this.#place(slot);
  }

  /** The id and hash of the slot must still be there. */
  remove(slot: number): void {
    const mask = this.#table.length - 1;
    let hole = this.#home(slot);
    while (this.#table[hole] !== slot + 1) hole = (hole + 1) & mask;
    this.#size -= 1;
    for (let at = (hole + 1) & mask; ; at = (at + 1) & mask) {
      const entry = this.#table[at]!;
      if (entry === 0) break;
      // An entry may move back only if its home does not lie between the hole and itself.
      const distance = (at - this.#home(entry - 1)) & mask;
      if (distance < ((at - hole) & mask)) continue;
      this.#table[hole] = entry;
      hole = at;
    }
    this.#table[hole] = 0;
  }

  #home(slot: number): number {
    return this.#columns.idHash[slot]! & (this.#table.length - 1);
  }

  #place(slot: number): void {
    const mask = this.#table.length - 1;
    let at = this.#home(slot);
    while (this.#table[at] !== 0) at = (at + 1) & mask;
    this.#table[at] = slot + 1;
  }

  #grow(): void {
    const old = this.#table;
    this.#table = new Int32Array(old.length * 2);
    for (const entry of old) if (entry !== 0) this.#place(entry - 1);
  }
}
