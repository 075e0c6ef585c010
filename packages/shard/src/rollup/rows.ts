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
import { LastRollup, type RowPlaces, RowSearch } from './last-rollup.ts';
import { readNeed, type WireNeed } from './read-need.ts';

const MAX_REMEMBERED_BYTES: number = 16 * 1024 * 1024;
/** More than any cluster asks for by far; a whole shard expects 50,000. */
const MAX_ROWS = 250_000;
/** Rows and whatever a newer operator adds to them: a frame of empty fields must not take long. */
const MAX_FIELDS = 300_000;

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
