// A FIFO with a stated bound: a full queue keeps what it has, turns new items away and counts them.
// A ring that doubles up to the capacity: push and shift are O(1), and an idle queue holds no memory
// for items it never had.

import { assert } from './assert.ts';

const FIRST_RING_SIZE = 16;

export class BoundedQueue<T extends NonNullable<unknown>> {
  readonly capacity: number;
  #ring: (T | undefined)[] = [];
  #head = 0;
  #size = 0;
  #refusedCount = 0;

  constructor(capacity: number) {
    assert(Number.isSafeInteger(capacity) && capacity >= 1, 'bad queue capacity', { capacity });
    this.capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  /** Items turned away since creation. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  push(item: T): 'queued' | 'refused' {
    if (this.#size === this.capacity) {
      this.#refusedCount++;
      return 'refused';
    }
    if (this.#size === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#size) % this.#ring.length] = item;
    this.#size++;
    return 'queued';
  }

  shift(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) % this.#ring.length;
    this.#size--;
    return item;
  }

  peek(): T | undefined {
    return this.#size === 0 ? undefined : this.#ring[this.#head];
  }

  /** Forgets all items, and the memory that held them; the counter stays. */
  clear(): void {
    this.#ring = [];
    this.#head = 0;
    this.#size = 0;
  }

  #grow(): void {
    const wanted = Math.max(this.#ring.length * 2, FIRST_RING_SIZE);
    const grown = new Array<T | undefined>(Math.min(wanted, this.capacity));
    for (let i = 0; i < this.#size; i++)
      grown[i] = this.#ring[(this.#head + i) % this.#ring.length];
    this.#ring = grown;
    this.#head = 0;
  }
}
