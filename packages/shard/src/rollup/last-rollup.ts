// The last roll-up of a cluster, as bytes and as rows, and the search for the rows of the next one in it.
// The bytes are kept in one buffer that is written over and over: buffers that live from one roll-up to
// the next are freed by full collections only, and bring those about.

import type { Need } from '@bigfleet/engine';

/** Rows that were withdrawn, or changed one after the other, in front of one that stayed. */
const AHEAD = 32;
/** Rows that came in between. */
const BACK = 4;

/** Room to grow, as a share of the roll-up. */
const SPARE_SHARE = 0.125;
/** A buffer that many times too large is given back. */
const MAX_EXCESS = 4;

export interface RowPlaces {
  /** Where the bytes of each row begin and end. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

export class LastRollup {
  rows: readonly Need[] = [];
  #bytes: Uint8Array = new Uint8Array();
  #places: RowPlaces = { starts: [], ends: [] };

  /** Takes the place of the one before; the bytes are copied. */
  replace(bytes: Uint8Array, { starts, ends }: RowPlaces, rows: readonly Need[]): void {
    const { length } = bytes;
    if (this.#bytes.length < length || this.#bytes.length > length * MAX_EXCESS) {
      this.#bytes = new Uint8Array(Math.ceil(length * (1 + SPARE_SHARE)));
    }
    this.#bytes.set(bytes);
    this.#places = { starts, ends };
    this.rows = rows;
  }

  isRow(place: number, bytes: Uint8Array, start: number, end: number): boolean {
    const { starts, ends } = this.#places;
    const from = starts[place];
    if (from === undefined || ends[place]! - from !== end - start) return false;
    const own = this.#bytes;
    for (let at = start, ownAt = from; at < end; at++, ownAt++) {
      if (bytes[at] !== own[ownAt]) return false;
    }
    return true;
  }
}

/**
 * Looks for the rows of one roll-up in the last one, in their order. Operators write their rows in
 * one order, so a row is looked for where the last one was found: at that place, then around it. A
 * row that moved further is not found, and is read once more.
 */
export class RowSearch {
  readonly #last: LastRollup;
  #next = 0;

  constructor(last: LastRollup) {
    this.#last = last;
  }

  /** Where these bytes are a row; −1 when they are none, or stand elsewhere. */
  find(bytes: Uint8Array, start: number, end: number): number {
    const place = this.#look(bytes, start, end);
    this.#next = place < 0 ? this.#next + 1 : place + 1;
    return place;
  }

  #look(bytes: Uint8Array, start: number, end: number): number {
    const next = this.#next;
    for (let place = next; place <= next + AHEAD; place++) {
      if (this.#last.isRow(place, bytes, start, end)) return place;
    }
    for (let place = next - 1; place >= next - BACK && place >= 0; place--) {
      if (this.#last.isRow(place, bytes, start, end)) return place;
    }
    return -1;
  }
}
