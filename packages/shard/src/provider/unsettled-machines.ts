// What the next scan must not pass over: rows of the last one that were looked at and not taken in,
// and machines that main has written otherwise since. Taken once, and given back when there was no
// scan; one that was lost on the way is followed by one that passes over nothing.
//
// Bound: one entry per machine.

import type { ScanOrder } from './scan/list-scans.ts';

interface Unsettled extends Pick<ScanOrder, 'isAnew' | 'again'> {
  readonly unsettledRows: Uint32Array<ArrayBuffer>;
}

export class UnsettledMachines {
  #rows = new Uint32Array(0);
  readonly #ids = new Set<string>();
  #isAll = false;

  addIds(ids: Iterable<string>): void {
    for (const id of ids) this.#ids.add(id);
  }

  /** Of the last scan, whose rows replace those of the one before. */
  addRows(rows: Uint32Array<ArrayBuffer>): void {
    this.#rows = rows;
  }

  addAll(): void {
    this.#isAll = true;
  }

  take(): Unsettled {
    const taken = { isAnew: this.#isAll, unsettledRows: this.#rows, again: [...this.#ids] };
    this.#rows = new Uint32Array(0);
    this.#ids.clear();
    this.#isAll = false;
    return taken;
  }

  /** What was taken for a scan that did not take place: its rows are still those of the last one. */
  giveBack({ isAnew, unsettledRows, again }: Unsettled): void {
    this.#rows = unsettledRows;
    this.addIds(again);
    this.#isAll ||= isAnew;
  }
}
