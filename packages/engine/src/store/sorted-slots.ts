// A set of machine slots in pool order (reclamation penalty asc, id asc), for sets that may hold hundreds of thousands:
// chunks of bounded size, so that an insertion moves at most one chunk and never the set.
// Cost: O(log n) to find, O(chunk) words moved per change, no allocation except when a chunk
// splits. Guarded by bench engine/cycle/steady.

import { grown } from './classes.ts';

/** What pool order reads. The penalty of an unbound machine is 0 unless a provider echoes one. */
export interface SlotOrder {
  readonly rank: Uint32Array;
  readonly reclamationBucket: Uint8Array;
}

/** One number that compares like (penalty, id): the bucket above the 32 bits of the rank. */
export function slotKey({ rank, reclamationBucket }: SlotOrder, slot: number): number {
  return reclamationBucket[slot]! * 0x1_0000_0000 + rank[slot]!;
}

const CHUNK_SLOTS = 256;
/** Most classes of a fleet with rack labels hold a handful of machines. */
const FIRST_CHUNK_SLOTS = 4;

export class SortedSlots {
  /** Never empty chunks, except that an empty set has none. */
  readonly #chunks: Int32Array[] = [];
  readonly #lengths: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get chunkCount(): number {
    return this.#chunks.length;
  }

  /** For cursors: chunk by chunk, `length` valid entries each. */
  chunkAt(index: number): Int32Array {
    return this.#chunks[index] as Int32Array;
  }

  lengthAt(index: number): number {
    return this.#lengths[index]!;
  }

  insert(slot: number, order: SlotOrder): void {
    this.#size += 1;
    if (this.#chunks.length === 0) return this.#open(slot);
    const key = slotKey(order, slot);
    let at = this.#chunkFor(key, order);
    let chunk = this.#chunks[at] as Int32Array;
    let length = this.#lengths[at]!;
    if (length === CHUNK_SLOTS) {
      this.#split(at);
      if (key > slotKey(order, (this.#chunks[at + 1] as Int32Array)[0]!)) at += 1;
      chunk = this.#chunks[at] as Int32Array;
      length = this.#lengths[at]!;
    } else if (length === chunk.length) {
      chunk = this.#grow(at);
    }
    const position = lowerBound(chunk, length, key, order);
    chunk.copyWithin(position + 1, position, length);
    chunk[position] = slot;
    this.#lengths[at] = length + 1;
  }

  /** False when the slot was not in the set. */
  remove(slot: number, order: SlotOrder): boolean {
    if (this.#chunks.length === 0) return false;
    const key = slotKey(order, slot);
    const at = this.#chunkFor(key, order);
    const chunk = this.#chunks[at] as Int32Array;
    const length = this.#lengths[at]!;
    const position = lowerBound(chunk, length, key, order);
    if (position >= length || chunk[position] !== slot) return false;
    chunk.copyWithin(position, position + 1, length);
    this.#size -= 1;
    this.#lengths[at] = length - 1;
    if (length === 1) {
      this.#chunks.splice(at, 1);
      this.#lengths.splice(at, 1);
    }
    return true;
  }

  #open(slot: number): void {
    const chunk = new Int32Array(FIRST_CHUNK_SLOTS);
    chunk[0] = slot;
    this.#chunks.push(chunk);
    this.#lengths.push(1);
  }

  #grow(at: number): Int32Array {
    const old = this.#chunks[at] as Int32Array;
    const chunk = grown(old, new Int32Array(Math.min(CHUNK_SLOTS, old.length * 4)));
    this.#chunks[at] = chunk;
    return chunk;
  }

  /** The last chunk whose first entry is not above the key. */
  #chunkFor(key: number, order: SlotOrder): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = (this.#chunks[middle] as Int32Array)[0]!;
      if (slotKey(order, first) <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #split(at: number): void {
    const chunk = this.#chunks[at] as Int32Array;
    const half = CHUNK_SLOTS >>> 1;
    const upper = new Int32Array(CHUNK_SLOTS);
    upper.set(chunk.subarray(half));
    this.#chunks.splice(at + 1, 0, upper);
    this.#lengths[at] = half;
    this.#lengths.splice(at + 1, 0, CHUNK_SLOTS - half);
  }
}

/** First position whose key is not below. */
function lowerBound(chunk: Int32Array, length: number, key: number, order: SlotOrder): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (slotKey(order, chunk[middle]!) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Walks a set from its start while others claim from the same front. */
export class SlotCursor {
  #set: SortedSlots;
  #chunk = 0;
  #offset = 0;
  #taken = 0;

  constructor(set: SortedSlots) {
    this.#set = set;
  }

  reset(): void {
    this.#chunk = 0;
    this.#offset = 0;
    this.#taken = 0;
  }

  get remaining(): number {
    return this.#set.size - this.#taken;
  }

  /** The next slot, or −1 at the end. */
  peek(): number {
    if (this.#chunk >= this.#set.chunkCount) return -1;
    return this.#set.chunkAt(this.#chunk)[this.#offset]!;
  }

  advance(): void {
    this.#taken += 1;
    this.#offset += 1;
    if (this.#offset >= this.#set.lengthAt(this.#chunk)) {
      this.#chunk += 1;
      this.#offset = 0;
    }
  }
}
