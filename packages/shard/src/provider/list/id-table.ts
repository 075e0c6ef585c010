// The ids of a List to their rows: marks duplicates, and tells afterwards whether a known machine
// was listed. Built in a loop of its own after the records were read: its random accesses miss the
// cache, and the processor overlaps them only where nothing else stands between.

import { areEqualRanges, hashRange } from './byte-ranges.ts';
import { problemCode, type Rows } from './rows.ts';

const MIN_SLOTS = 16;
/** Slots per id, before rounding up to a power of two. */
const SLOTS_PER_ID = 2;

/** Row plus 1 by hash of its id; 0 is free. The first row of an id holds it. */
export type IdSlots = Int32Array<ArrayBuffer>;

export function indexIds(view: DataView, rows: Rows, rowCount: number): IdSlots {
  let size = MIN_SLOTS;
  while (size < SLOTS_PER_ID * rowCount) size *= 2;
  const slots = new Int32Array(size);
  const duplicate = problemCode('duplicate_id');
  for (let row = 0; row < rowCount; row++) {
    if (rows.idLength[row] === 0) continue;
    if (!claim(view, rows, slots, row) && rows.problem[row] === 0) rows.problem[row] = duplicate;
  }
  return slots;
}

function claim(view: DataView, rows: Rows, slots: IdSlots, row: number): boolean {
  const hash = rows.idHash[row]!;
  const mask = slots.length - 1;
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    const other = slots[at]! - 1;
    if (other < 0) {
      slots[at] = row + 1;
      return true;
    }
    if (rows.idHash[other] === hash && hasSameId(view, rows, other, row)) return false;
  }
}

function hasSameId(view: DataView, rows: Rows, a: number, b: number): boolean {
  const length = rows.idLength[a]!;
  if (rows.idLength[b] !== length) return false;
  return areEqualRanges(view, rows.idStart[a]!, rows.idStart[b]!, length);
}

/** The row of this id, −1 when the List has none. */
export function findId(bytes: Uint8Array, rows: Rows, slots: IdSlots, id: Buffer): number {
  const hash = hashRange(new DataView(id.buffer, id.byteOffset, id.length), 0, id.length) >>> 0;
  const mask = slots.length - 1;
  for (let at = hash & mask; ; at = (at + 1) & mask) {
    const row = slots[at]! - 1;
    if (row < 0) return -1;
    if (rows.idHash[row] !== hash || rows.idLength[row] !== id.length) continue;
    const start = rows.idStart[row]!;
    if (id.equals(bytes.subarray(start, start + id.length))) return row;
  }
}
