// What the next scan must not pass over: rows of the last one that were looked at and not taken in,
// and machines that main has written otherwise since. Taken once; a scan that then fails is
// followed by one that passes over nothing.
//
// Bound: one entry per machine.

import type { ScanOrder } from './scan/list-scans.ts';

type Unsettled = Pick<ScanOrder, 'isAnew' | 'unsettledRows' | 'again'>;

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
}
