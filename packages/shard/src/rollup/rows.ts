// Roll-ups off the wire into needs, paying for the rows that changed. Most rows of a roll-up are, byte
// for byte, rows of the cluster's last one, in the same order: those are taken from it and get the
// new arrival; only the others are decoded. A memo and nothing else: the answer is that of a full
// decoding, refusals and their row numbers included, whatever came before and whatever became of it.
//
// Bound: the bytes and rows of one roll-up per cluster, none of a roll-up above MAX_REMEMBERED_BYTES.
// Cost per unchanged row: one comparison of its bytes, one object. Guarded by shard/session/5k.

import type { Result } from '@bigfleet/base';
import { decodeRollup, type Need, type RollupProblem } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, decode } from '@bigfleet/wire';
import { TopLevelReader } from '../session/field-reader.ts';
import { LastRollup, type RowPlaces } from './last-rollup.ts';

/** `ClusterCapacityNeeds.needs`. */
const NEEDS_FIELD = 3;
const LENGTH_DELIMITED = 2;
const MAX_REMEMBERED_BYTES: number = 16 * 1024 * 1024;
/** As many rows as a roll-up may have; more are refused by a full decoding. */
const MAX_REMEMBERED_ROWS = 250_000;

/** Gives an equal need that shares its parts with others. */
export type ShareParts = (need: Need) => Need;

interface Split {
  readonly rowPlaces: RowPlaces;
  /** Of each row, its place in the last roll-up; −1 for what is not there. */
  readonly known: readonly number[];
  /** The roll-up without the rows that are known. */
  readonly rest: Uint8Array;
  /** Where each row of `rest` stood. */
  readonly places: readonly number[];
}

export class RollupRows {
  readonly #byCluster = new Map<string, LastRollup>();
  readonly #share: ShareParts;

  constructor(share: ShareParts = (need) => need) {
    this.#share = share;
  }

  /** Throws for bytes that are no roll-up. */
  decode(cluster: string, bytes: Uint8Array): Result<readonly Need[], RollupProblem> {
    const last = this.#byCluster.get(cluster) ?? new LastRollup();
    const split = bytes.length > MAX_REMEMBERED_BYTES ? undefined : splitRows(bytes, last);
    if (split === undefined) {
      this.#byCluster.delete(cluster);
      return decodeAll(cluster, bytes).needs;
    }
    const { needs: fresh, arrivalUnixNanos } = decodeAll(cluster, split.rest);
    if (!fresh.ok) {
      const { row } = fresh.error;
      return { ok: false, error: { ...fresh.error, row: split.places[row] ?? row } };
    }
    const rows = this.#merge(split, last, fresh.value);
    last.replace(bytes, split.rowPlaces, rows);
    this.#byCluster.set(cluster, last);
    return { ok: true, value: rows.map((need) => arrivedAt(need, arrivalUnixNanos)) };
  }

  forget(cluster: string): void {
    this.#byCluster.delete(cluster);
  }

  /** A known row stays the object that it was: what is made anew each time would be collected late. */
  #merge({ known }: Split, last: LastRollup, fresh: readonly Need[]): readonly Need[] {
    let nextFresh = 0;
    return known.map((place) =>
      place < 0 ? this.#share(fresh[nextFresh++] as Need) : (last.rows[place] as Need),
    );
  }
}

function arrivedAt(need: Need, arrivalUnixNanos: bigint): Need {
  return need.arrivalUnixNanos === arrivalUnixNanos ? need : { ...need, arrivalUnixNanos };
}

function decodeAll(
  cluster: string,
  bytes: Uint8Array,
): { readonly needs: Result<readonly Need[], RollupProblem>; readonly arrivalUnixNanos: bigint } {
  const rollup = decode(ClusterCapacityNeedsSchema, bytes, 'INVALID_ARGUMENT');
  return {
    needs: decodeRollup(rollup, cluster),
    arrivalUnixNanos: rollup.timestampUnixNanos,
  };
}

/** Undefined when only a full decoding can judge the bytes. */
function splitRows(bytes: Uint8Array, last: LastRollup): Split | undefined {
  const starts: number[] = [];
  const ends: number[] = [];
  const known: number[] = [];
  const places: number[] = [];
  const kept: Uint8Array[] = [];
  const reader = new TopLevelReader(bytes);
  const search = last.search();
  while (reader.next()) {
    const { field, wireType, start, valueStart, end } = reader;
    if (field === NEEDS_FIELD) {
      if (wireType !== LENGTH_DELIMITED || known.length === MAX_REMEMBERED_ROWS) return undefined;
      const place = search.find(bytes, valueStart, end);
      starts.push(valueStart);
      ends.push(end);
      known.push(place);
      if (place >= 0) continue;
      places.push(known.length - 1);
    }
    kept.push(bytes.subarray(start, end));
  }
  if (reader.isMalformed) return undefined;
  const rest = kept.length === 0 ? new Uint8Array() : Buffer.concat(kept);
  return { rowPlaces: { starts, ends }, known, rest, places };
}
