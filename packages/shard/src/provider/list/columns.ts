// One decoded List as plain data, and the reader over it. The data is typed arrays and numbers
// only, so that a worker decodes and the main thread reads: every buffer can be transferred, and
// nothing is cloned record by record. Text is made when it is asked for.

import { Source } from './byte-ranges.ts';
import { findId, type IdSlots } from './id-table.ts';
import { RANGE_LENGTH, RANGE_START, RANGE_WORDS } from './range-table.ts';
import { type Problem, problemOf, type Rows } from './rows.ts';
import { Varints } from './varints.ts';

export interface ListData {
  /** The whole answer; every range below points into it. */
  readonly bytes: Uint8Array;
  readonly revision: Uint8Array;
  readonly rowCount: number;
  /** Records without a usable id: each may speak of any machine. */
  readonly unidentifiedCount: number;
  readonly rows: Rows;
  readonly idSlots: IdSlots;
  /** See RANGE_WORDS. */
  readonly strings: Int32Array;
  readonly entryKeys: Uint32Array;
  readonly entryValueStarts: Uint32Array;
  readonly entryValueLengths: Uint32Array;
  readonly keys: Int32Array;
  readonly setStarts: Uint32Array;
  readonly setPool: Uint32Array;
  /** One more than the highest profile number. */
  readonly profileCount: number;
  readonly profileStarts: Uint32Array;
  readonly profilePool: Uint32Array;
}

/** What machines of one kind have in common, as the provider wrote it. */
export interface ListedProfile {
  readonly instanceType: string;
  readonly zone: string;
  /** As on the wire; 255 stands for every value that has no name. */
  readonly capacityType: number;
  readonly pricePerHour: number;
  readonly interruptionProbability: number;
  readonly resources: ReadonlyMap<string, string>;
  readonly labels: ReadonlyMap<string, string>;
  readonly allocatable: ReadonlyMap<string, string>;
}

export class ListColumns {
  readonly data: ListData;
  readonly #source: Source;
  /** Interned strings are few and asked for by every row: made once. */
  readonly #texts: (string | undefined)[] = [];
  readonly #doubles: DataView = new DataView(new ArrayBuffer(8));

  constructor(data: ListData) {
    this.data = data;
    this.#source = new Source(data.bytes);
  }

  get rowCount(): number {
    return this.data.rowCount;
  }

  problem(row: number): Problem | undefined {
    return problemOf(this.data.rows.problem[row]!);
  }

  id(row: number): string {
    const { idStart, idLength } = this.data.rows;
    return this.#range(idStart[row]!, idLength[row]!);
  }

  state(row: number): number {
    return this.data.rows.state[row]!;
  }

  cluster(row: number): string {
    return this.#string(this.data.rows.cluster[row]!);
  }

  /** Two empty strings are how the wire says that there is no host. */
  hasHost(row: number): boolean {
    const { hostProvider, hostRefLength } = this.data.rows;
    return hostProvider[row] !== 0 || hostRefLength[row] !== 0;
  }

  hostProvider(row: number): string {
    return this.#string(this.data.rows.hostProvider[row]!);
  }

  hostRef(row: number): string {
    const { hostRefStart, hostRefLength } = this.data.rows;
    return this.#range(hostRefStart[row]!, hostRefLength[row]!);
  }

  lastError(row: number): string {
    return this.#string(this.data.rows.lastError[row]!);
  }

  metadata(row: number): Map<string, string> {
    return this.#set(this.metadataOf(row));
  }

  /** Rows with one number have equal metadata. */
  metadataOf(row: number): number {
    return this.data.rows.metadata[row]!;
  }

  profileOf(row: number): number {
    return this.data.rows.profile[row]!;
  }

  /** Built anew at each call: callers keep what they need per profile. */
  profile(number: number): ListedProfile {
    const start = this.data.profileStarts[number]!;
    const word = (at: number): number => this.data.profilePool[start + at]!;
    return {
      instanceType: this.#string(word(0)),
      zone: this.#string(word(1)),
      capacityType: word(2),
      pricePerHour: this.#double(word(3), word(4)),
      interruptionProbability: this.#double(word(5), word(6)),
      resources: this.#set(word(7)),
      labels: this.#set(word(8)),
      allocatable: this.#set(word(9)),
    };
  }

  /** The record as it came, with tag and length: one behind the other, records are a List again. */
  record(row: number): Uint8Array {
    const { bytes, rows } = this.data;
    const start = rows.fieldStart[row]!;
    const varints = new Varints(bytes);
    varints.readTag(start, bytes.length);
    const length = varints.read(varints.next, bytes.length);
    return bytes.subarray(start, varints.next + length);
  }

  /** The row that speaks of this machine, readable or refused; −1 when there is none. */
  rowOf(id: string): number {
    const { bytes, rows, idSlots } = this.data;
    return findId(bytes, rows, idSlots, Buffer.from(id, 'utf8'));
  }

  #set(number: number): Map<string, string> {
    const { setStarts, setPool, entryKeys } = this.data;
    const map = new Map<string, string>();
    const end = setStarts[number + 1]!;
    for (let at = setStarts[number]!; at < end; at++) {
      const entry = setPool[at]!;
      const key = entryKeys[entry]!;
      map.set(this.#key(key), this.#value(entry));
    }
    return map;
  }

  #key(number: number): string {
    return this.#interned(this.data.keys, number);
  }

  #value(entry: number): string {
    const { entryValueStarts, entryValueLengths } = this.data;
    return this.#range(entryValueStarts[entry]!, entryValueLengths[entry]!);
  }

  #string(number: number): string {
    const known = this.#texts[number];
    if (known !== undefined) return known;
    const text = this.#interned(this.data.strings, number);
    this.#texts[number] = text;
    return text;
  }

  #interned(ranges: Int32Array, number: number): string {
    const word = number * RANGE_WORDS;
    return this.#range(ranges[word + RANGE_START]!, ranges[word + RANGE_LENGTH]!);
  }

  #range(start: number, length: number): string {
    return length === 0 ? '' : this.#source.text(start, start + length);
  }

  #double(low: number, high: number): number {
    this.#doubles.setUint32(0, low, true);
    this.#doubles.setUint32(4, high, true);
    return this.#doubles.getFloat64(0, true);
  }
}

/** For postMessage, which then copies nothing large. Leaves nothing to read on this side. */
export function transferables(data: ListData): ArrayBuffer[] {
  const parts = Object.values({ ...data, ...data.rows });
  return [...new Set(parts.filter((part) => ArrayBuffer.isView(part)).flatMap(ownBuffer))];
}

/** Bytes in front of a message in the buffer that it came in. */
const FRAME_HEADER_BYTES = 5;

/** Nothing when others look at the buffer too: a small answer may be a piece of Node's pool. */
export function ownBuffer({ buffer, byteOffset, byteLength }: ArrayBufferView): ArrayBuffer[] {
  const isFrame = byteOffset === FRAME_HEADER_BYTES && byteLength > Buffer.poolSize;
  const isWhole = buffer.byteLength === byteLength + (isFrame ? FRAME_HEADER_BYTES : 0);
  return isWhole && buffer instanceof ArrayBuffer ? [buffer] : [];
}
