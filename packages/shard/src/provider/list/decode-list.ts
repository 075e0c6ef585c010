// MachineList bytes straight into columns (shard §21.4). A full List of half a million machines
// is one message of 100 to 200 MB; as objects it costs seconds and over a gigabyte of heap, as
// columns a fraction of both. The bytes stay: columns point into them.
//
// A List whose records cannot be told apart is refused whole, with `message_malformed`. A record
// that cannot be read is refused alone; if not even its id is known, the List says so, because
// then absence from it proves nothing.

import { Source } from './byte-ranges.ts';
import { ListColumns } from './columns.ts';
import { indexIds } from './id-table.ts';
import { MachineDecoder } from './machine-decoder.ts';
import { allocateRows, growRows, problemCode, type Rows } from './rows.ts';
import { malformed, walkList } from './walk-list.ts';

/** Eight times a shard's ceiling: a shared provider lists the machines of several shards. */
const MAX_MACHINES = 4_000_000;
/** Eight times the largest metadata that certification sends. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;
/** Records at the beginning that say how long the others will be. */
const SAMPLE_COUNT = 256;

export function decodeMachineList(bytes: Uint8Array): ListColumns {
  const source = new Source(bytes);
  const rows = allocateRows(estimateCount(bytes));
  const records = new Records(source, rows);
  const revision = walkList(bytes, (start, end, fieldStart) => records.add(start, end, fieldStart));
  const { rowCount, unidentifiedCount, decoder } = records;
  const idSlots = indexIds(source.view, rows, rowCount);
  const { strings, entries, sets, profiles } = decoder;
  return new ListColumns({
    bytes,
    revision,
    rowCount,
    unidentifiedCount,
    rows,
    idSlots,
    strings: strings.ranges,
    entryKeys: entries.keyOf,
    entryValueStarts: entries.valueStarts,
    entryValueLengths: entries.valueLengths,
    keys: entries.keys.ranges,
    setStarts: sets.starts,
    setPool: sets.pool,
    profileCount: profiles.count,
    profileStarts: profiles.starts,
    profilePool: profiles.pool,
  });
}

/** By the first records; a walk over all of them would read the whole input twice. */
function estimateCount(bytes: Uint8Array): number {
  let count = 0;
  let sampledBytes = 0;
  walkList(bytes, (_start, end) => {
    sampledBytes = end;
    return ++count < SAMPLE_COUNT;
  });
  if (count < SAMPLE_COUNT) return count;
  return Math.min(MAX_MACHINES, Math.ceil((bytes.length / sampledBytes) * count * 1.05));
}

class Records {
  readonly #rows: Rows;
  readonly decoder: MachineDecoder;
  rowCount = 0;
  unidentifiedCount = 0;

  constructor(source: Source, rows: Rows) {
    this.#rows = rows;
    this.decoder = new MachineDecoder(source, rows);
  }

  add(start: number, end: number, fieldStart: number): true {
    const row = this.rowCount++;
    if (row === MAX_MACHINES) throw malformed(start, `more than ${MAX_MACHINES} machines`);
    if (row === this.#rows.state.length) growRows(this.#rows, Math.ceil(1.5 * row) + 16);
    this.#rows.fieldStart[row] = fieldStart;
    const isTooLarge = end - start > MAX_RECORD_BYTES;
    const problem = isTooLarge ? 'too_large' : this.decoder.decode(row, start, end);
    if (problem !== undefined) this.#rows.problem[row] = problemCode(problem);
    if (this.#rows.idLength[row] === 0) this.unidentifiedCount++;
    if (this.decoder.isFull) throw malformed(start, 'more distinct strings than any fleet has');
    return true;
  }
}
