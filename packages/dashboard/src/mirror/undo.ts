// What a step has overwritten, as bytes: the slot, a mask of the columns that changed, their old values.
// About twenty bytes for a machine that changed its state. Undone from the last entry to the first: a slot
// may be written twice in one step.

import { type ColumnName, type Columns, NAMES, type Row, TEXT_COLUMNS } from './columns.ts';

const HEAD_BYTES = 6;
const MAX_ENTRY_BYTES = HEAD_BYTES + 48;
const WIDTHS: readonly number[] = NAMES.map(widthOf);
const TEXT_PLACES: ReadonlySet<number> = new Set(TEXT_COLUMNS.map((name) => NAMES.indexOf(name)));
const CLASS_PLACE: number = NAMES.indexOf('klass');
const empty = new Uint8Array(0);

/** One for the whole model, used for one step at a time. */
export class UndoWriter {
  #bytes: Uint8Array = new Uint8Array(4_096);
  #view: DataView = new DataView(this.#bytes.buffer);
  #length = 0;

  begin(): void {
    this.#length = 0;
  }

  /** The row is about to become `next`; false when it is that already. */
  overwrite(columns: Columns, slot: number, next: Row): boolean {
    let mask = 0;
    for (let place = 0; place < NAMES.length; place++) {
      const name = NAMES[place] as ColumnName;
      if (columns[name][slot] !== next[name]) mask |= 1 << place;
    }
    if (mask === 0) return false;
    this.#reserve();
    const view = this.#view;
    view.setUint32(this.#length, slot);
    view.setUint16(this.#length + 4, mask);
    let at = this.#length + HEAD_BYTES;
    for (let place = 0; place < NAMES.length; place++) {
      if ((mask & (1 << place)) === 0) continue;
      const name = NAMES[place] as ColumnName;
      writeValue(view, at, WIDTHS[place] ?? 4, columns[name][slot] ?? 0);
      at += WIDTHS[place] ?? 4;
      columns[name][slot] = next[name];
    }
    this.#length = at;
    return true;
  }

  end(): Uint8Array {
    return this.#length === 0 ? empty : this.#bytes.slice(0, this.#length);
  }

  #reserve(): void {
    if (this.#length + MAX_ENTRY_BYTES <= this.#bytes.length) return;
    const grown = new Uint8Array(this.#bytes.length * 2);
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

export function undo(columns: Columns, bytes: Uint8Array): void {
  const view = viewOf(bytes);
  const entries: number[] = [];
  for (let at = 0; at < bytes.length; at += entryBytes(view, at)) entries.push(at);
  for (let entry = entries.length - 1; entry >= 0; entry--) {
    undoEntry(columns, view, entries[entry] ?? 0);
  }
}

/** Marks every text and class that the entries would bring back. */
export function markUndone(bytes: Uint8Array, texts: Uint8Array, classes: Uint8Array): void {
  const view = viewOf(bytes);
  for (let at = 0; at < bytes.length; ) {
    const mask = view.getUint16(at + 4);
    at += HEAD_BYTES;
    for (let place = 0; place < NAMES.length; place++) {
      if ((mask & (1 << place)) === 0) continue;
      if (TEXT_PLACES.has(place)) texts[view.getUint32(at)] = 1;
      else if (place === CLASS_PLACE) classes[view.getUint32(at)] = 1;
      at += WIDTHS[place] ?? 4;
    }
  }
}

function undoEntry(columns: Columns, view: DataView, start: number): void {
  const slot = view.getUint32(start);
  const mask = view.getUint16(start + 4);
  let at = start + HEAD_BYTES;
  for (let place = 0; place < NAMES.length; place++) {
    if ((mask & (1 << place)) === 0) continue;
    const name = NAMES[place] as ColumnName;
    const width = WIDTHS[place] ?? 4;
    columns[name][slot] = readValue(view, at, width, name === 'priority');
    at += width;
  }
}

function entryBytes(view: DataView, start: number): number {
  const mask = view.getUint16(start + 4);
  let bytes = HEAD_BYTES;
  for (let place = 0; place < NAMES.length; place++) {
    if ((mask & (1 << place)) !== 0) bytes += WIDTHS[place] ?? 4;
  }
  return bytes;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function widthOf(name: ColumnName): number {
  if (name === 'since') return 8;
  const isByte =
    name === 'state' || name === 'interruption' || name === 'reclamation' || name === 'riskBin';
  return isByte ? 1 : 4;
}

function writeValue(view: DataView, at: number, width: number, value: number): void {
  if (width === 8) view.setFloat64(at, value);
  else if (width === 1) view.setUint8(at, value);
  else view.setInt32(at, value);
}

function readValue(view: DataView, at: number, width: number, isSigned: boolean): number {
  if (width === 8) return view.getFloat64(at);
  if (width === 1) return view.getUint8(at);
  return isSigned ? view.getInt32(at) : view.getUint32(at);
}
