// One table whose rows belong to a shard and die with it (coordinator §2.1: a row is live only while
// its uid is the shard's current one). Dead rows are kept until they are swept, because the engine
// still holds them, but no reader sees them. Reading one owner's rows never walks the table.

import type { Table, TableRows } from './rows.ts';
import { type RowOrder, SortedRows } from './sorted-rows.ts';
import type { RowKey } from './writes.ts';

export interface Owner {
  readonly shardId: string;
  readonly uid: number;
}

export interface OwnedTableOptions<R> {
  readonly order: RowOrder<R>;
  readonly ownerOf: (row: R) => Owner;
  readonly isLive: (owner: Owner) => boolean;
}

export type OwnedTableName = Extract<Table, 'clusters' | 'domains' | 'homes' | 'overrides'>;

export class OwnedTable<R extends TableRows[OwnedTableName]> {
  readonly #options: OwnedTableOptions<R>;
  readonly #stored = new Map<RowKey, R>();
  readonly #live: SortedRows<R>;
  readonly #byOwner = new Map<string, SortedRows<R>>();

  constructor(options: OwnedTableOptions<R>) {
    this.#options = options;
    this.#live = new SortedRows(options.order);
  }

  get liveCount(): number {
    return this.#live.size;
  }

  get(key: RowKey): R | undefined {
    const row = this.#stored.get(key);
    return row !== undefined && this.#isLive(row) ? row : undefined;
  }

  all(): readonly R[] {
    return this.#live.all();
  }

  ownedBy(shardId: string): readonly R[] {
    return this.#byOwner.get(shardId)?.all() ?? [];
  }

  /** Replaces everything; the shards must be known already. */
  fill(rows: ReadonlyMap<RowKey, R>): void {
    this.#stored.clear();
    this.#byOwner.clear();
    const owned = new Map<string, R[]>();
    const live: R[] = [];
    for (const [key, row] of rows) {
      this.#stored.set(key, row);
      if (!this.#isLive(row)) continue;
      live.push(row);
      const { shardId } = this.#options.ownerOf(row);
      const rowsOfOwner = owned.get(shardId);
      if (rowsOfOwner === undefined) owned.set(shardId, [row]);
      else rowsOfOwner.push(row);
    }
    this.#live.fill(live);
    for (const [shardId, rowsOfOwner] of owned) this.#ownerRows(shardId).fill(rowsOfOwner);
  }

  put(key: RowKey, row: R): void {
    this.delete(key);
    this.#stored.set(key, row);
    if (!this.#isLive(row)) return;
    this.#live.put(row);
    this.#ownerRows(this.#options.ownerOf(row).shardId).put(row);
  }

  delete(key: RowKey): void {
    const row = this.#stored.get(key);
    if (row === undefined) return;
    this.#stored.delete(key);
    if (!this.#isLive(row)) return;
    this.#live.remove(row);
    this.#ownerRows(this.#options.ownerOf(row).shardId).remove(row);
  }

  /** Called when the shard is no longer known: what it owned is dead from here on. */
  dropOwner(shardId: string): void {
    if (!this.#byOwner.delete(shardId)) return;
    this.#live.keep((row) => this.#options.ownerOf(row).shardId !== shardId);
  }

  isDangling(key: RowKey): boolean {
    const row = this.#stored.get(key);
    return row !== undefined && !this.#isLive(row);
  }

  dangling(): RowKey[] {
    return [...this.#stored.keys()].filter((key) => this.isDangling(key));
  }

  #isLive(row: R): boolean {
    return this.#options.isLive(this.#options.ownerOf(row));
  }

  #ownerRows(shardId: string): SortedRows<R> {
    const known = this.#byOwner.get(shardId);
    if (known !== undefined) return known;
    const rows = new SortedRows(this.#options.order);
    this.#byOwner.set(shardId, rows);
    return rows;
  }
}
