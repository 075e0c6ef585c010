// The rows of a roll-up as needs, in one walk over its bytes that pays for the rows that changed. Most
// rows are, byte for byte, rows of the cluster's last roll-up, in the same order: the walk takes those
// from it, with the new arrival, and reads only the others. The last roll-up is a memo and nothing
// else: the answer is that of a full decoding, refusals and their row numbers included, whatever came
// before and whatever became of it.
//
// Bound: the bytes and rows of one roll-up per cluster, none of a roll-up above MAX_REMEMBERED_BYTES.
// Cost per unchanged row: one comparison of its bytes, one object; per changed row: at most
// AHEAD + BACK comparisons, which end at the first byte that differs. Guarded by shard/session/5k.

import { err, ok, type Result } from '@bigfleet/base';
import { decodeRollup, type Need, type RollupProblem } from '@bigfleet/engine';
import { FieldReader } from '../session/field-reader.ts';
import { readNeed, type WireNeed } from './read-need.ts';

const MAX_REMEMBERED_BYTES: number = 16 * 1024 * 1024;
/** More than any cluster asks for by far; a whole shard expects 50,000. */
const MAX_ROWS = 250_000;
/** Rows and whatever a newer operator adds to them: a frame of empty fields must not take long. */
const MAX_FIELDS = 300_000;

/** Rows that were withdrawn, or changed one after the other, in front of one that stayed. */
const AHEAD = 32;
/** Rows that came in between. */
const BACK = 4;

/** Room to grow, as a share of the roll-up. */
const SPARE_SHARE = 0.125;
/** A buffer that many times too large is given back. */
const MAX_EXCESS = 4;

/** Gives an equal need that shares its parts with others. */
export type ShareParts = (need: Need) => Need;

export class RollupRows {
  readonly #byCluster = new Map<string, LastRollup>();
  readonly #share: ShareParts;

  constructor(share: ShareParts = (need) => need) {
    this.#share = share;
  }

  read(cluster: string, bytes: Uint8Array): Result<readonly Need[], RollupProblem> {
    if (bytes.length > MAX_REMEMBERED_BYTES) this.#byCluster.delete(cluster);
    const last = this.#byCluster.get(cluster) ?? new LastRollup();
    const walk = walkRows(bytes, last);
    if ('code' in walk) return err(walk);
    const { clusterId, timestampUnixNanos, unknown, unknownPlaces } = walk;
    const decoded = decodeRollup({ clusterId, timestampUnixNanos, needs: unknown }, cluster);
    if (!decoded.ok) {
      const { row } = decoded.error;
      return err({ ...decoded.error, row: unknownPlaces[row] ?? row });
    }
    const rows = this.#merge(walk, last, decoded.value);
    if (bytes.length <= MAX_REMEMBERED_BYTES) {
      last.replace(bytes, walk, rows);
      this.#byCluster.set(cluster, last);
    }
    return ok(rows.map((need) => arrivedAt(need, timestampUnixNanos)));
  }

  forget(cluster: string): void {
    this.#byCluster.delete(cluster);
  }

  /** A known row stays the object that it was: what is made anew each time would be collected late. */
  #merge({ known }: RowWalk, last: LastRollup, fresh: readonly Need[]): readonly Need[] {
    let nextFresh = 0;
    return known.map((place) =>
      place < 0 ? this.#share(fresh[nextFresh++] as Need) : (last.rows[place] as Need),
    );
  }
}

function arrivedAt(need: Need, arrivalUnixNanos: bigint): Need {
  return need.arrivalUnixNanos === arrivalUnixNanos ? need : { ...need, arrivalUnixNanos };
}

interface RowPlaces {
  /** Where the bytes of each row begin and end. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

interface RowWalk extends RowPlaces {
  readonly clusterId: string;
  readonly timestampUnixNanos: bigint;
  /** Of each row, its place in the last roll-up; −1 for a row that is not there. */
  readonly known: readonly number[];
  readonly unknown: readonly WireNeed[];
  /** Where each unknown row stands. */
  readonly unknownPlaces: readonly number[];
}

function walkRows(bytes: Uint8Array, last: LastRollup): RowWalk | RollupProblem {
  const starts: number[] = [];
  const ends: number[] = [];
  const known: number[] = [];
  const unknown: WireNeed[] = [];
  const unknownPlaces: number[] = [];
  const search = new RowSearch(last);
  const reader = FieldReader.of(bytes);
  let clusterId = '';
  let timestampUnixNanos: bigint | undefined;
  for (let count = 1; reader.next(); count++) {
    if (count > MAX_FIELDS) return tooLarge(count);
    switch (reader.field) {
      case 1:
        clusterId = reader.text();
        break;
      case 2:
        // Once: the digest leaves out one, and no encoder writes a second.
        if (timestampUnixNanos !== undefined) reader.fail();
        timestampUnixNanos = reader.int64();
        break;
      case 3: {
        if (known.length === MAX_ROWS) return tooLarge(count);
        if (!reader.isDelimited) reader.fail();
        const { valueStart, end } = reader;
        const place = search.find(bytes, valueStart, end);
        starts.push(valueStart);
        ends.push(end);
        known.push(place);
        if (place >= 0) break;
        unknownPlaces.push(known.length - 1);
        unknown.push(readNeed(reader.inner()));
      }
    }
  }
  if (reader.isMalformed) return malformed(known.length, reader.start);
  timestampUnixNanos ??= 0n;
  return { clusterId, timestampUnixNanos, starts, ends, known, unknown, unknownPlaces };
}

function tooLarge(count: number): RollupProblem {
  return { code: 'too_large', row: -1, field: 'needs', detail: `at least ${count} fields` };
}

function malformed(rows: number, at: number): RollupProblem {
  const detail = `no roll-up from byte ${at} on, after ${rows} rows`;
  return { code: 'malformed', row: -1, field: 'bytes', detail };
}

/**
 * The last roll-up of a cluster, as bytes and as rows. The bytes are kept in one buffer that is
 * written over and over: buffers that live from one roll-up to the next are freed by full
 * collections only, and bring those about.
 */
class LastRollup {
  #bytes: Uint8Array = new Uint8Array();
  #places: RowPlaces = { starts: [], ends: [] };
  #rows: readonly Need[] = [];

  get rows(): readonly Need[] {
    return this.#rows;
  }

  /** Takes the place of the one before; the bytes are copied. */
  replace(bytes: Uint8Array, { starts, ends }: RowPlaces, rows: readonly Need[]): void {
    const { length } = bytes;
    if (this.#bytes.length < length || this.#bytes.length > length * MAX_EXCESS) {
      this.#bytes = new Uint8Array(Math.ceil(length * (1 + SPARE_SHARE)));
    }
    this.#bytes.set(bytes);
    this.#places = { starts, ends };
    this.#rows = rows;
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
class RowSearch {
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
