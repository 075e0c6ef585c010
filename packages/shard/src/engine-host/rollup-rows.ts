// Roll-ups off the wire into needs, paying for the rows that changed. Most rows of a roll-up are, byte
// for byte, rows of the cluster's last one: those are taken from it and get the new arrival; only
// the others are decoded. A memo and nothing else: the answer is that of a full decoding, refusals
// and their row numbers included, whatever came before and whatever became of it.
//
// Bound: the rows of one roll-up per cluster, none of a roll-up above MAX_REMEMBERED_BYTES.
// Cost per unchanged row: a text of its bytes, two map lookups, one object. Guarded by shard/session/5k.

import type { Result } from '@bigfleet/base';
import { decodeRollup, type Need, type RollupProblem } from '@bigfleet/engine';
import { ClusterCapacityNeedsSchema, decode } from '@bigfleet/wire';
import { TopLevelReader } from '../session/rollup/top-level-reader.ts';

/** `ClusterCapacityNeeds.needs`. */
const NEEDS_FIELD = 3;
const LENGTH_DELIMITED = 2;
const MAX_REMEMBERED_BYTES: number = 16 * 1024 * 1024;
/** As many rows as a roll-up may have; more are refused by a full decoding. */
const MAX_REMEMBERED_ROWS = 250_000;

/** By the bytes of the row, as latin1. */
type Rows = Map<string, Need>;

interface Split {
  /** The row's bytes, in wire order. */
  readonly keys: readonly string[];
  /** The roll-up without the rows that are known. */
  readonly rest: Uint8Array;
  /** Where each row of `rest` stood. */
  readonly places: readonly number[];
}

export class RollupRows {
  readonly #byCluster = new Map<string, Rows>();

  /** Throws for bytes that are no roll-up. */
  decode(cluster: string, bytes: Uint8Array): Result<readonly Need[], RollupProblem> {
    const known = this.#byCluster.get(cluster) ?? new Map<string, Need>();
    const split = bytes.length > MAX_REMEMBERED_BYTES ? undefined : splitRows(bytes, known);
    if (split === undefined) {
      this.#byCluster.delete(cluster);
      return decodeAll(cluster, bytes).needs;
    }
    const { needs: fresh, arrivalUnixNanos } = decodeAll(cluster, split.rest);
    if (!fresh.ok) {
      const { row } = fresh.error;
      return { ok: false, error: { ...fresh.error, row: split.places[row] ?? row } };
    }
    const { needs, rows } = merge(split, known, fresh.value, arrivalUnixNanos);
    this.#byCluster.set(cluster, rows);
    return { ok: true, value: needs };
  }

  forget(cluster: string): void {
    this.#byCluster.delete(cluster);
  }
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
function splitRows(bytes: Uint8Array, known: Rows): Split | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const keys: string[] = [];
  const places: number[] = [];
  const kept: Uint8Array[] = [];
  const reader = new TopLevelReader(bytes);
  while (reader.next()) {
    const { field, wireType, start, valueStart, end } = reader;
    if (field === NEEDS_FIELD) {
      if (wireType !== LENGTH_DELIMITED || keys.length === MAX_REMEMBERED_ROWS) return undefined;
      const key = buffer.toString('latin1', valueStart, end);
      keys.push(key);
      if (known.has(key)) continue;
      places.push(keys.length - 1);
    }
    kept.push(bytes.subarray(start, end));
  }
  if (reader.isMalformed) return undefined;
  return { keys, rest: kept.length === 0 ? new Uint8Array() : Buffer.concat(kept), places };
}

function merge(
  { keys, places }: Split,
  known: Rows,
  fresh: readonly Need[],
  arrivalUnixNanos: bigint,
): { readonly needs: readonly Need[]; readonly rows: Rows } {
  const rows: Rows = new Map();
  const needs: Need[] = [];
  let nextFresh = 0;
  for (const [at, key] of keys.entries()) {
    const isFresh = places[nextFresh] === at;
    const need = isFresh
      ? (fresh[nextFresh++] as Need)
      : { ...(known.get(key) as Need), arrivalUnixNanos };
    rows.set(key, need);
    needs.push(need);
  }
  return { needs, rows };
}
