// A FIFO with a stated bound, what happens at the bound, and counters that say how often it did.
// `refuse` keeps what is queued and turns new items away; `drop_oldest` keeps the newest. There
// is no policy without a bound. A ring that doubles up to the capacity: push and shift are O(1),
// and an idle queue holds no memory for items it never had.

import { assert } from './assert.ts';

export type OverflowPolicy = 'refuse' | 'drop_oldest';

/** `displaced`: the item is in, and the oldest one went to `onDrop`. */
export type PushOutcome = 'queued' | 'refused' | 'displaced';

export interface BoundedQueueOptions<T> {
  readonly capacity: number;
  readonly overflow: OverflowPolicy;
  /** Receives each item that `drop_oldest` pushes out, so that its owner can be told. */
  readonly onDrop?: (item: T) => void;
}

const FIRST_RING_SIZE = 16;

export class BoundedQueue<T extends NonNullable<unknown>> {
  readonly capacity: number;
  readonly #overflow: OverflowPolicy;
  readonly #onDrop: ((item: T) => void) | undefined;
  #ring: (T | undefined)[] = [];
  #head = 0;
  #size = 0;
  #refusedCount = 0;
  #droppedCount = 0;
  #peakSize = 0;

  constructor(options: BoundedQueueOptions<T>) {
    const { capacity, overflow, onDrop } = options;
    assert(Number.isSafeInteger(capacity) && capacity >= 1, 'bad queue capacity', { capacity });
    this.capacity = capacity;
    this.#overflow = overflow;
    this.#onDrop = onDrop;
  }

  get size(): number {
    return this.#size;
  }

  /** Items turned away since creation. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** Items pushed out by newer ones since creation. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  /** The most items ever queued at once. */
  get peakSize(): number {
    return this.#peakSize;
  }

  push(item: T): PushOutcome {
    if (this.#size < this.capacity) {
      this.#append(item);
      return 'queued';
    }
    if (this.#overflow === 'refuse') {
      this.#refusedCount++;
      return 'refused';
    }
    const oldest = this.shift();
    assert(oldest !== undefined, 'a full queue has an oldest item');
    this.#droppedCount++;
    this.#append(item);
    this.#onDrop?.(oldest);
    return 'displaced';
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

  /** Forgets all items, and the memory that held them; the counters stay. */
  clear(): void {
    this.#ring = [];
    this.#head = 0;
    this.#size = 0;
  }

  #append(item: T): void {
    if (this.#size === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#size) % this.#ring.length] = item;
    this.#size++;
    if (this.#size > this.#peakSize) this.#peakSize = this.#size;
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
