// The fleet in pages of encoded bytes, so that a full List copies buffers instead of encoding half
// a million records. A change marks its slot; the page is put together again when it is next asked
// for, encoding the marked slots only and copying the rest. Cost of a full List: one copy of the
// bytes, plus the changed records.

import type { MachineRecord } from '../model/machine.ts';
import { writeListEntry } from '../encoding/encode-machine.ts';
import { ProtobufWriter } from '../encoding/protobuf-writer.ts';

const PAGE_SIZE = 256;

export class MachinePages {
  readonly #pages: Page[] = [];
  readonly #free: number[] = [];
  readonly #writer = new ProtobufWriter();
  #length = 0;

  /** Positions handed out so far, holes included. */
  get length(): number {
    return this.#length;
  }

  get pageCount(): number {
    return this.#pages.length;
  }

  /** Undefined where a machine was removed. */
  at(position: number): MachineRecord | undefined {
    return this.#pages[Math.floor(position / PAGE_SIZE)]?.at(position % PAGE_SIZE);
  }

  add(record: MachineRecord): number {
    const position = this.#free.pop() ?? this.#length++;
    if (position === this.#pages.length * PAGE_SIZE) this.#pages.push(new Page());
    this.replace(position, record);
    return position;
  }

  replace(position: number, record: MachineRecord | undefined): void {
    this.#pages[Math.floor(position / PAGE_SIZE)]?.put(position % PAGE_SIZE, record);
  }

  remove(position: number): void {
    this.replace(position, undefined);
    this.#free.push(position);
  }

  /** The list entries of one page. Never written to again: a change makes new bytes. */
  pageBytes(page: number): Uint8Array {
    return this.#pages[page]?.bytes(this.#writer) ?? new Uint8Array(0);
  }
}

class Page {
  readonly #records: (MachineRecord | undefined)[] = [];
  readonly #isStale = new Uint8Array(PAGE_SIZE);
  #staleCount = 0;
  #bytes: Uint8Array = new Uint8Array(0);
  /** Where each slot ends in the bytes. */
  #ends = new Uint32Array(PAGE_SIZE);

  at(slot: number): MachineRecord | undefined {
    return this.#records[slot];
  }

  put(slot: number, record: MachineRecord | undefined): void {
    this.#records[slot] = record;
    if (this.#isStale[slot] === 0) this.#staleCount++;
    this.#isStale[slot] = 1;
  }

  bytes(writer: ProtobufWriter): Uint8Array {
    if (this.#staleCount > 0) this.#rebuild(writer);
    return this.#bytes;
  }

  #rebuild(writer: ProtobufWriter): void {
    const ends = new Uint32Array(PAGE_SIZE);
    let start = 0;
    for (let slot = 0; slot < PAGE_SIZE; slot++) {
      const end = this.#ends[slot] ?? 0;
      const record = this.#records[slot];
      if (this.#isStale[slot] === 0) writer.raw(this.#bytes.subarray(start, end));
      else if (record !== undefined) writeListEntry(writer, record);
      ends[slot] = writer.length;
      start = end;
    }
    this.#bytes = writer.finish();
    this.#ends = ends;
    this.#isStale.fill(0);
    this.#staleCount = 0;
  }
}
