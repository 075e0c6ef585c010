// The durable half of the memory engine: what survives a crash and what several stores share, as a
// disk or an etcd would be. Keeps a revision per row, so that edits behind a leader's back are seen.

import type { Meta, Table, RowKey, StoredRow } from '../../state/rows.ts';
import type { LeaderHint } from '../store.ts';

export interface DiskRow {
  readonly table: Table;
  readonly value: string;
  readonly revision: number;
}

export interface DiskLeader extends LeaderHint {
  /** Called when the leadership ends by the disk's doing, not by its holder's. */
  readonly depose: () => void;
}

export class MemoryDisk {
  readonly #rows = new Map<RowKey, DiskRow>();
  readonly #waiting: (() => void)[] = [];
  #revision = 0;
  #meta: Meta | undefined;
  #leader: DiskLeader | undefined;

  /** Undefined until something was written. */
  get meta(): Meta | undefined {
    return this.#meta;
  }

  set meta(meta: Meta) {
    this.#meta = meta;
  }

  get leader(): DiskLeader | undefined {
    return this.#leader;
  }

  lead(leader: DiskLeader): void {
    this.#leader = leader;
  }

  /** The lease of the leader ends, as if its process had been gone for long enough. */
  depose(): void {
    const leader = this.#leader;
    this.#leader = undefined;
    leader?.depose();
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves when there is no leader; the caller looks again. */
  vacancy(): Promise<void> {
    if (this.#leader === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  row(key: RowKey): DiskRow | undefined {
    return this.#rows.get(key);
  }

  put(row: StoredRow): number {
    const revision = ++this.#revision;
    this.#rows.set(row.key, { table: row.table, value: row.value, revision });
    return revision;
  }

  delete(key: RowKey): void {
    this.#rows.delete(key);
  }

  /** By key, as an engine lists them. */
  rows(): StoredRow[] {
    const rows = [...this.#rows].map(([key, { table, value }]) => ({ table, key, value }));
    return rows.sort((a, b) => (a.key < b.key ? -1 : 1));
  }
}
