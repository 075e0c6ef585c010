// One table whose rows answer for themselves: shards, providers, quotas, transfers.

import { type RowOrder, SortedRows } from './sorted-rows.ts';
import type { RowKey } from './writes.ts';

export class PlainTable<R> {
  readonly #rows = new Map<RowKey, R>();
  readonly #sorted: SortedRows<R>;

  constructor(order: RowOrder<R>) {
    this.#sorted = new SortedRows(order);
  }

  get(key: RowKey): R | undefined {
    return this.#rows.get(key);
  }

  all(): readonly R[] {
    return this.#sorted.all();
  }

  entries(): Iterable<readonly [RowKey, R]> {
    return this.#rows;
  }

  fill(rows: ReadonlyMap<RowKey, R>): void {
    this.#rows.clear();
    for (const [key, row] of rows) this.#rows.set(key, row);
    this.#sorted.fill(rows.values());
  }

  put(key: RowKey, row: R): void {
    this.#rows.set(key, row);
    this.#sorted.put(row);
  }

  delete(key: RowKey): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#rows.delete(key);
    this.#sorted.remove(row);
  }
}
