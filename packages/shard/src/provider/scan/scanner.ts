// Decodes Lists and tells which of their rows main has to look at (list-scans.ts). Pure and
// synchronous: it runs inline or in the worker and knows neither. Keeps, per provider, the digest of
// every machine's last row; a full List makes that table anew, so that it never outgrows the fleet.
//
// A row is passed over when it is readable, single and equal to the last one. Rows that main looked at
// count as taken in until main says otherwise with the next order.

import { BigFleetError } from '@bigfleet/base';
import { hashRange, joinBytes } from '../list/byte-ranges.ts';
import type { ListColumns } from '../list/columns.ts';
import { decodeMachineList } from '../list/decode-list.ts';
import { problemCode } from '../list/rows.ts';
import type { ListScans, ScanAnswer, ScanOrder } from './list-scans.ts';
import { RowOrder } from './order-rows.ts';
import { RowDigests } from './row-digests.ts';
import { SeenMachines } from './seen-machines.ts';

/** From here on it pays that the engine meets new ids in order. */
const MANY_ROWS = 10_000;

interface Memory {
  readonly seen: SeenMachines;
  /** Entry by row of the last List; −1 for a row without an id. */
  readonly entryOf: Int32Array;
}

export class Scanner {
  /** By provider; a shard has at most 32. */
  readonly #memories = new Map<string, Memory>();

  scan(order: ScanOrder): ScanAnswer {
    const { provider } = order;
    // First, because main says it only once, and the List may be unreadable.
    if (order.isAnew) this.#memories.delete(provider);
    const before = this.#memories.get(provider);
    if (before !== undefined) unsettle(before, order);
    const columns = decoded(withWaiting(order));
    if (typeof columns === 'string') return { kind: 'malformed', detail: columns };
    const into = order.isFull ? undefined : before?.seen;
    const pass = new Pass({ columns, into, before: before?.seen, listedBytes: order.bytes.length });
    pass.run();
    this.#memories.set(provider, { seen: pass.into, entryOf: pass.entryOf });
    const isJudged = pass.met !== undefined && before !== undefined;
    const absent = isJudged ? absentees(before.seen, pass.met) : undefined;
    return { kind: 'scanned', data: columns.data, rows: pass.rows(), absent };
  }
}

/** Why it is no MachineList, when it is none. */
function decoded(bytes: Uint8Array): ListColumns | string {
  try {
    return decodeMachineList(bytes);
  } catch (error) {
    if (error instanceof BigFleetError && error.code === 'message_malformed') return error.message;
    throw error;
  }
}

/** Waiting records stand behind those of the List: of two records with one id, the first one counts. */
function withWaiting({ bytes, isFull, waiting }: ScanOrder): Uint8Array {
  return isFull || waiting.length === 0 ? bytes : joinBytes([bytes, waiting]);
}

/** What main did not take in or wrote itself is looked at again, or at least looked for. */
function unsettle({ seen, entryOf }: Memory, { unsettledRows, again }: ScanOrder): void {
  for (const row of unsettledRows) {
    const entry = entryOf[row] ?? -1;
    if (entry >= 0) seen.forget(entry);
  }
  for (const id of again) {
    const bytes = Buffer.from(id, 'utf8');
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const hash = hashRange(view, 0, bytes.length) >>> 0;
    const entry = seen.find(view, 0, bytes.length, hash);
    if (entry >= 0) seen.forget(entry);
    else seen.add(bytes, hash);
  }
}

function absentees(seen: SeenMachines, met: Uint8Array): string[] {
  const absent: string[] = [];
  for (let entry = 0; entry < seen.count; entry++) {
    if (met[entry] !== 1) absent.push(seen.idOf(entry));
  }
  return absent;
}

interface PassOptions {
  readonly columns: ListColumns;
  /** The table to go on with, of a delta; undefined: a new one. */
  readonly into: SeenMachines | undefined;
  readonly before: SeenMachines | undefined;
  /** Records behind these bytes have waited. */
  readonly listedBytes: number;
}

const duplicate = problemCode('duplicate_id');

/** One walk over the rows of one List. */
class Pass {
  readonly #columns: ListColumns;
  readonly #digests: RowDigests;
  readonly #before: SeenMachines | undefined;
  readonly #view: DataView;
  readonly #listedBytes: number;
  /** The table that knows this List's rows afterwards: the old one of a delta, else a new one. */
  readonly into: SeenMachines;
  readonly entryOf: Int32Array;
  /** By entry of before; of a full List alone: a delta cannot say that a machine is gone. */
  readonly met: Uint8Array | undefined;
  readonly #rows: Uint32Array;
  #rowCount = 0;

  constructor({ columns, into, before, listedBytes }: PassOptions) {
    const { bytes, rowCount } = columns.data;
    this.#listedBytes = listedBytes;
    this.#columns = columns;
    this.#digests = new RowDigests(columns);
    this.#before = before;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.into = into ?? new SeenMachines(rowCount);
    this.entryOf = new Int32Array(rowCount).fill(-1);
    this.met = into === undefined ? new Uint8Array(before?.count ?? 0) : undefined;
    this.#rows = new Uint32Array(rowCount);
  }

  run(): void {
    const { rowCount } = this.#columns;
    for (let row = 0; row < rowCount; row++) {
      if (this.#isOutdated(row) || this.#isKnown(row)) continue;
      this.#rows[this.#rowCount++] = row;
    }
  }

  /** In a buffer of its own, which is transferred. */
  rows(): Uint32Array {
    const rows = this.#rows.slice(0, this.#rowCount);
    const { data } = this.#columns;
    if (rows.length >= MANY_ROWS) new RowOrder(data.bytes, data.rows).sort(rows);
    return rows;
  }

  /** A record that waited, and of whose machine this List says something newer. */
  #isOutdated(row: number): boolean {
    const { problem, fieldStart } = this.#columns.data.rows;
    return problem[row] === duplicate && fieldStart[row]! >= this.#listedBytes;
  }

  /** Whether main has taken in an equal row of the same machine; takes note of this one. */
  #isKnown(row: number): boolean {
    const { rows } = this.#columns.data;
    const length = rows.idLength[row]!;
    if (length === 0) return false;
    const start = rows.idStart[row]!;
    const hash = rows.idHash[row]!;
    const old = this.#before?.find(this.#view, start, length, hash) ?? -1;
    if (old >= 0 && this.met !== undefined) this.met[old] = 1;
    const entry = this.#entryFor(old, start, length, hash);
    this.entryOf[row] = entry;
    if (rows.problem[row] !== 0) {
      this.into.forget(entry);
      return false;
    }
    this.#digests.read(row);
    const { low, high } = this.#digests;
    const isKnown = old >= 0 && this.#before?.hasDigest(old, low, high) === true;
    this.into.setDigest(entry, low, high);
    return isKnown;
  }

  #entryFor(old: number, start: number, length: number, hash: number): number {
    if (this.into === this.#before && old >= 0) return old;
    const known = this.into === this.#before ? -1 : this.into.find(this.#view, start, length, hash);
    if (known >= 0) return known;
    return this.into.add(this.#columns.data.bytes.subarray(start, start + length), hash);
  }
}

// Scans in this thread: for simulation under virtual time and for tests.

export function createInlineScans(): ListScans {
  const scanner = new Scanner();
  return {
    scan: async (order) => scanner.scan(order),
    close: () => Promise.resolve(),
  };
}
