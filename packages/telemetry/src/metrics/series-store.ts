// The numbers of one family, in one typed array: row after row, each row all combinations of the
// closed labels, each series `width` numbers. Series 0 belongs to nobody: dropped and removed series
// point at it, so that a write needs no check and a stale handle can never reach a reused row.
// Cost: a write is one array access; a snapshot is one copy of what is published.

import { assert } from '@bigfleet/base';
import type { LabelPairs, LabelSpace } from './labels.ts';

export const NOWHERE = 0;
const CLOSED_ROW = '';
const FIRST_ROWS = 8;

export interface SeriesSnapshot {
  readonly pairs: readonly LabelPairs[];
  /** `width` numbers per entry of `pairs`. */
  readonly values: Float64Array;
}

export interface SeriesStoreOptions {
  readonly space: LabelSpace;
  readonly width: number;
  readonly initial: (labels: LabelPairs) => boolean;
}

export class SeriesStore {
  readonly space: LabelSpace;
  readonly width: number;
  /** Replaced when the store grows: read it anew for every write. */
  values: Float64Array;
  /** 1 = published; indexed by series. */
  published: Uint8Array;
  readonly #initial: (labels: LabelPairs) => boolean;
  readonly #pairs: (LabelPairs | undefined)[] = [undefined];
  readonly #rows = new Map<string, number>();
  readonly #freeRows: number[] = [];
  #rowsEverUsed = 0;

  constructor(options: SeriesStoreOptions) {
    this.space = options.space;
    this.width = options.width;
    this.#initial = options.initial;
    const rows = this.space.open === undefined ? 1 : Math.min(FIRST_ROWS, this.space.open.max);
    const seriesCount = 1 + rows * this.space.closedCount;
    this.values = new Float64Array(seriesCount * this.width);
    this.published = new Uint8Array(seriesCount);
    if (this.space.open === undefined) this.addRow(CLOSED_ROW);
  }

  get rowCount(): number {
    return this.#rows.size;
  }

  /** First series of the row, or undefined when there is none. */
  rowStart(openValue: string): number | undefined {
    return this.#rows.get(this.space.open === undefined ? CLOSED_ROW : openValue);
  }

  /** A new row, zeroed. The caller has checked the bound. */
  addRow(openValue: string): number {
    const start = this.#freeRows.pop() ?? this.#nextStart();
    const { closedCount } = this.space;
    this.values.fill(0, start * this.width, (start + closedCount) * this.width);
    for (let closed = 0; closed < closedCount; closed++) {
      const pairs = this.space.pairs(closed, openValue);
      this.#pairs[start + closed] = pairs;
      this.published[start + closed] = this.#initial(pairs) ? 1 : 0;
    }
    this.#rows.set(openValue, start);
    return start;
  }

  /** Start of the row that ended, or undefined when there was none. */
  removeRow(openValue: string): number | undefined {
    const start = this.#rows.get(openValue);
    if (start === undefined) return undefined;
    this.#rows.delete(openValue);
    for (let closed = 0; closed < this.space.closedCount; closed++) {
      this.#pairs[start + closed] = undefined;
      this.published[start + closed] = 0;
    }
    this.#freeRows.push(start);
    return start;
  }

  openValues(): readonly string[] {
    return this.space.open === undefined ? [] : [...this.#rows.keys()];
  }

  snapshot(): SeriesSnapshot {
    const indexes: number[] = [];
    for (let series = 1; series < this.#pairs.length; series++) {
      if (this.published[series] === 1) indexes.push(series);
    }
    const { width } = this;
    const values = new Float64Array(indexes.length * width);
    const pairs = indexes.map((series, at) => {
      values.set(this.values.subarray(series * width, (series + 1) * width), at * width);
      const labels = this.#pairs[series];
      assert(labels !== undefined, 'a published series has labels');
      return labels;
    });
    return { pairs, values };
  }

  #nextStart(): number {
    const { closedCount } = this.space;
    const start = 1 + this.#rowsEverUsed * closedCount;
    this.#rowsEverUsed++;
    if (start + closedCount > this.published.length) this.#grow();
    return start;
  }

  #grow(): void {
    const { values, published } = this;
    const seriesCount = 1 + (published.length - 1) * 2;
    this.values = new Float64Array(seriesCount * this.width);
    this.values.set(values);
    this.published = new Uint8Array(seriesCount);
    this.published.set(published);
  }
}
