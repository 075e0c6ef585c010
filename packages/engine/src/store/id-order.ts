// The place of every machine in ascending id order, as numbers that compare like the ids:
// ties by id are then one integer comparison. Numbers are spaced, so that a new id takes one
// between its neighbours; when a gap is used up, the neighbourhood is spaced anew. How far that
// reaches grows with how crowded it is, so that no order of arrival (newest first, a second
// provider in front of the first) rewrites everybody again and again.

import { compareText } from '@bigfleet/base';

const CHUNK_IDS = 512;
const LAST_RANK = 0xffff_fffe;
/** Ids mostly arrive in ascending order; this leaves room between them for late ones. */
const APPEND_GAP = 512;
/** Room that a chunk must get; a window of n chunks must get n times as much. */
const RELABEL_GAP = 16;

export class IdOrder {
  readonly #ids: readonly string[];
  readonly #chunks: number[][] = [];

  /** `ids[slot]` is the id of the slot. */
  constructor(ids: readonly string[]) {
    this.#ids = ids;
  }

  /** Gives the slot its rank, in `rank[slot]`; may rewrite the ranks of others. */
  insert(slot: number, rank: Uint32Array): void {
    const id = this.#ids[slot]!;
    if (this.#chunks.length === 0) this.#chunks.push([]);
    const at = this.#chunkFor(id);
    const chunk = this.#chunks[at]!;
    const position = this.#lowerBound(chunk, id);
    chunk.splice(position, 0, slot);
    const before = this.#neighbour(at, position - 1, rank, 0);
    const after = this.#neighbour(at, position + 1, rank, LAST_RANK + 1);
    const isLast = after === LAST_RANK + 1;
    const label = isLast ? before + APPEND_GAP : before + Math.floor((after - before) / 2);
    const middle = chunk.length > CHUNK_IDS ? this.#split(at, isLast) : chunk.length;
    const home = position >= middle ? at + 1 : at;
    if (label <= before || label >= after || label > LAST_RANK) this.#relabel(home, rank);
    else rank[slot] = label;
  }

  /** Where it was split. Ids that arrive in order fill their chunks; others leave room between. */
  #split(at: number, isAppended: boolean): number {
    const chunk = this.#chunks[at]!;
    const middle = isAppended ? chunk.length - 1 : chunk.length >>> 1;
    this.#chunks.splice(at, 1, chunk.slice(0, middle), chunk.slice(middle));
    return middle;
  }

  remove(slot: number): void {
    const id = this.#ids[slot]!;
    const at = this.#chunkFor(id);
    const chunk = this.#chunks[at]!;
    chunk.splice(this.#lowerBound(chunk, id), 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
  }

  #neighbour(at: number, position: number, rank: Uint32Array, none: number): number {
    const chunk = this.#chunks[at]!;
    let slot = chunk[position];
    if (slot === undefined) {
      slot = position < 0 ? this.#chunks[at - 1]?.at(-1) : this.#chunks[at + 1]?.[0];
    }
    return slot === undefined ? none : rank[slot]!;
  }

  /** Spaces the ranks around a chunk anew: the smallest window with room enough. */
  #relabel(at: number, rank: Uint32Array): void {
    const last = this.#chunks.length - 1;
    let low = at;
    let high = at;
    let { floor, gap } = this.#room(low, high, rank);
    while ((low > 0 || high < last) && gap < RELABEL_GAP * (high - low + 1)) {
      const width = high - low + 1;
      low = Math.max(0, low - width);
      high = Math.min(last, high + width);
      ({ floor, gap } = this.#room(low, high, rank));
    }
    let label = floor;
    for (let chunk = low; chunk <= high; chunk++) {
      for (const slot of this.#chunks[chunk]!) rank[slot] = label += gap;
    }
  }

  /** The rank below a window of chunks, and the even spacing inside it. */
  #room(low: number, high: number, rank: Uint32Array): { floor: number; gap: number } {
    let count = 0;
    for (let chunk = low; chunk <= high; chunk++) count += this.#chunks[chunk]!.length;
    const below = this.#chunks[low - 1]?.at(-1);
    const above = this.#chunks[high + 1]?.[0];
    const floor = below === undefined ? 0 : rank[below]!;
    const ceiling = above === undefined ? LAST_RANK + 1 : rank[above]!;
    return { floor, gap: Math.floor((ceiling - floor) / (count + 1)) };
  }

  #chunkFor(id: string): number {
    let low = 0;
    let high = this.#chunks.length - 1;
    if (this.#isLast(id)) return high;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const first = this.#chunks[middle]![0]!;
      if (compareText(this.#ids[first]!, id) <= 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Mostly so while a fleet is listed for the first time: one comparison instead of twenty. */
  #isLast(id: string): boolean {
    const last = this.#chunks.at(-1)?.at(-1);
    return last !== undefined && compareText(this.#ids[last]!, id) < 0;
  }

  #lowerBound(chunk: readonly number[], id: string): number {
    let low = 0;
    let high = chunk.length;
    const last = chunk[high - 1];
    if (last !== undefined && compareText(this.#ids[last]!, id) < 0) return high;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareText(this.#ids[chunk[middle]!]!, id) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
