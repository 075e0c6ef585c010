// Idle machines of one elastic capacity type in the order in which they became idle, so that
// release looks only at those whose hold has passed. Entries of machines that left Idle since
// are skipped; a queue that is mostly such entries is compacted.

import { assert } from '@bigfleet/base';

interface Entry {
  readonly slot: number;
  readonly sinceMs: number;
}

export class IdleHolds {
  readonly #current = new Map<number, Entry>();
  #queue: Entry[] = [];
  #isSorted = true;

  add(slot: number, sinceMs: number): void {
    assert(Number.isFinite(sinceMs), 'a hold begins at an instant', { slot });
    const last = this.#queue.at(-1);
    // Stamps come from one clock and only rise; a restored or jumped one still must not hide.
    if (last !== undefined && last.sinceMs > sinceMs) this.#isSorted = false;
    const entry = { slot, sinceMs };
    this.#current.set(slot, entry);
    this.#queue.push(entry);
  }

  remove(slot: number): void {
    this.#current.delete(slot);
    if (this.#queue.length > 1024 && this.#queue.length > this.#current.size * 2) this.#compact();
  }

  /** Calls `visit` for every machine that became idle at `latestMs` or before, oldest first. */
  forEachUntil(latestMs: number, visit: (slot: number) => void): void {
    if (!this.#isSorted) this.#compact();
    for (const entry of this.#queue) {
      if (entry.sinceMs > latestMs) return;
      if (this.#current.get(entry.slot) === entry) visit(entry.slot);
    }
  }

  #compact(): void {
    this.#queue = this.#queue.filter((entry) => this.#current.get(entry.slot) === entry);
    this.#queue.sort((a, b) => a.sinceMs - b.sinceMs);
    this.#isSorted = true;
  }
}
