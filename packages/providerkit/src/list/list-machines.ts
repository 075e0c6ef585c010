// List (provider-contract §9). Three shapes:
//   everything  no filter, no cap, no cursor: the pages as they are;
//   sample      a capped filter without cursor ("some speculative slot"): starts where the last
//               sample ended, so that repeated samples vary, and returns the zero-point cursor;
//   ordered     everything else, by revision: a delta costs its changes, and a truncated answer
//               carries the cursor of the last record examined, so that threading it loses nothing.
// The head is read before the first record. What changes while a long answer is put together has
// a higher revision, so the next delta repeats it: a machine may come twice, never not at all.
//
// While a record is in memory only (the store refused it), the answer's cursor dies with the process:
// after a crash the machine is again what the store has, under an older number, and a cursor that
// survived would never bring it back.

import type { Runtime } from '@bigfleet/base';
import type { ListFilter } from '@bigfleet/wire';
import type { Fleet } from '../fleet/fleet.ts';
import type { Ledger } from '../fleet/ledger.ts';
import type { MachineRecord } from '../model/machine.ts';
import { stateNumbers } from '../encoding/wire-names.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { writeListEntry } from '../encoding/encode-machine.ts';
import { ProtobufWriter } from '../encoding/protobuf-writer.ts';

/** About ten milliseconds of encoding, when nothing of it is cached. */
const PAGE_BYTES_PER_TURN = 1024 * 1024;
const RECORDS_PER_TURN = 2_000;
const REVISION_FIELD = 2;

export type ListQuery = Pick<ListFilter, 'states' | 'maxResults' | 'sinceRevision'>;

interface Selection {
  readonly records: readonly MachineRecord[];
  /** What the caller has seen when it has these. */
  readonly revision: number;
}

export class MachineLister {
  readonly #fleet: Fleet;
  readonly #unsaved: ReadonlySet<string>;
  readonly #timers: Runtime['timers'];
  readonly #life: string;
  #nextSample = 0;

  constructor(fleet: Fleet, { unsaved }: Pick<Ledger, 'unsaved'>, runtime: Runtime) {
    this.#fleet = fleet;
    this.#unsaved = unsaved;
    this.#timers = runtime.timers;
    const random = runtime.random.stream('cursors of this life');
    this.#life = `${fleet.incarnation}~${random.uint32().toString(16)}${random.uint32().toString(16)}`;
  }

  /** The bytes of a MachineList. Never fails on a strange filter or cursor. */
  async list(query: ListQuery, signal: AbortSignal): Promise<Uint8Array> {
    const fleet = this.#fleet;
    const { incarnation } = fleet;
    const { head } = fleet.revisions;
    const since = decodeCursor(query.sinceRevision, { incarnation, life: this.#life, head });
    const isCapped = query.maxResults > 0;
    const isFiltered = query.states.length > 0;
    if (since === undefined && !isCapped && !isFiltered)
      return await this.#everything(head, signal);
    const selection =
      since === undefined && isCapped && isFiltered
        ? this.#sample(query)
        : this.#ordered(query, since ?? 0, head);
    return await this.#encode(selection, signal);
  }

  async #everything(head: number, signal: AbortSignal): Promise<Uint8Array> {
    const { pages } = this.#fleet;
    const parts: Uint8Array[] = [];
    let sinceTurn = 0;
    for (let page = 0; page < pages.pageCount; page++) {
      const bytes = pages.pageBytes(page);
      parts.push(bytes);
      sinceTurn += bytes.length;
      if (sinceTurn >= PAGE_BYTES_PER_TURN) {
        sinceTurn = 0;
        await this.#turn(signal);
      }
    }
    parts.push(this.#cursorField(head));
    const whole = Buffer.concat(parts);
    // A plain view: Buffer's slice() shares memory where a Uint8Array's copies.
    return new Uint8Array(whole.buffer, whole.byteOffset, whole.byteLength);
  }

  #sample(query: ListQuery): Selection {
    const { pages } = this.#fleet;
    const wanted = new Set<number>(query.states);
    const records: MachineRecord[] = [];
    const start = this.#nextSample;
    for (let step = 0; step < pages.length && records.length < query.maxResults; step++) {
      const position = (start + step) % pages.length;
      const record = pages.at(position);
      if (record === undefined || !wanted.has(stateNumbers[record.state])) continue;
      records.push(record);
      this.#nextSample = position + 1;
    }
    return { records, revision: 0 };
  }

  #ordered(query: ListQuery, since: number, head: number): Selection {
    const { revisions } = this.#fleet;
    const wanted = query.states.length === 0 ? undefined : new Set<number>(query.states);
    const cap = query.maxResults > 0 ? query.maxResults : Number.POSITIVE_INFINITY;
    const records: MachineRecord[] = [];
    const { length } = revisions;
    for (let position = revisions.firstAfter(since); position < length; position++) {
      const record = revisions.recordAt(position);
      if (record === undefined) continue;
      if (wanted !== undefined && !wanted.has(stateNumbers[record.state])) continue;
      if (records.length === cap) {
        const last = revisions.revisionAt(position - 1);
        return { records, revision: Math.min(last, head) };
      }
      records.push(record);
    }
    return { records, revision: head };
  }

  async #encode(selection: Selection, signal: AbortSignal): Promise<Uint8Array> {
    const writer = new ProtobufWriter();
    let sinceTurn = 0;
    for (const record of selection.records) {
      writeListEntry(writer, record);
      sinceTurn++;
      if (sinceTurn === RECORDS_PER_TURN) {
        sinceTurn = 0;
        await this.#turn(signal);
      }
    }
    writer.raw(this.#cursorField(selection.revision));
    return writer.finish();
  }

  /** Lets other calls in; a caller that is gone gets no further work. */
  async #turn(signal: AbortSignal): Promise<void> {
    await this.#timers.turn();
    signal.throwIfAborted();
  }

  #cursorField(revision: number): Uint8Array {
    const writer = new ProtobufWriter();
    const name = this.#unsaved.size > 0 ? this.#life : this.#fleet.incarnation;
    writer.bytes(REVISION_FIELD, encodeCursor(name, revision));
    return writer.finish();
  }
}
