// Rows in one order, handed out without a copy and never changed under their reader: a write after
// `all` copies first. Cost: a write is a binary search and one move of pointers, and one copy of
// the pointers per write after a read; 100,000 rows are copied in well under a millisecond.

export type RowOrder<R> = (a: R, b: R) => number;

export class SortedRows<R> {
  readonly #order: RowOrder<R>;
  #rows: R[] = [];
  #isShared = false;

  constructor(order: RowOrder<R>) {
    this.#order = order;
  }

  get size(): number {
    return this.#rows.length;
  }

  /** As of now: later writes do not show in it. */
  all(): readonly R[] {
    this.#isShared = true;
    return this.#rows;
  }

  /** Replaces everything. For loading: one sort instead of an insertion per row. */
  fill(rows: Iterable<R>): void {
    this.#rows = [...rows].sort(this.#order);
    this.#isShared = false;
  }

  put(row: R): void {
    const at = this.#find(row);
    this.#own();
    const isKnown = at < this.#rows.length && this.#compareAt(at, row) === 0;
    this.#rows.splice(at, isKnown ? 1 : 0, row);
  }

  remove(row: R): void {
    const at = this.#find(row);
    if (at === this.#rows.length || this.#compareAt(at, row) !== 0) return;
    this.#own();
    this.#rows.splice(at, 1);
  }

  /** One pass, for the many rows that die with a shard. */
  keep(predicate: (row: R) => boolean): void {
    this.#rows = this.#rows.filter(predicate);
    this.#isShared = false;
  }

  #own(): void {
    if (!this.#isShared) return;
    this.#rows = [...this.#rows];
    this.#isShared = false;
  }

  #compareAt(at: number, row: R): number {
    return this.#order(this.#rows[at] as R, row);
  }

  /** The first position whose row is not before `row`. */
  #find(row: R): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compareAt(middle, row) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
