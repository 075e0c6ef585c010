// The fleet state in memory: what the engine holds, indexed for reading. It changes in one step per
// committed command (`install`) or as a whole (`replaceWith`), never in between, and decides
// nothing: rules live in decide/. Dead rows (coordinator §2.1) stay until they are swept and are
// never shown.
// Cost: reads by key and by owner do not walk tables of 100,000 rows; a list is not copied.

import { assert } from '@bigfleet/base';
import { keyOfRow, parseRowKey, rowKey, rowOrder, TABLES } from './keys.ts';
import { decodeStoredRow } from './row-format.ts';
import type {
  ClusterRow,
  Domain,
  DomainRow,
  HomeRow,
  Meta,
  OverrideRow,
  ProviderRow,
  QuotaRow,
  ShardRow,
  SliceRow,
  Table,
  TableRows,
  TransferRow,
  LoadedState,
  StoredRow,
  Change,
  RowKey,
  Write,
} from './rows.ts';
import { type Owner, type Ownership, RowTable, SortedRows } from './tables.ts';

/** Rows decoded between two turns of the event loop: some 10 ms. */
const ROWS_PER_TURN = 2_000;

export class FleetState {
  readonly #open = new SortedRows<TransferRow>(rowOrder('transfers'));
  readonly #tables: { readonly [T in Table]: RowTable<TableRows[T]> } = {
    shards: new RowTable(rowOrder('shards')),
    clusters: new RowTable(rowOrder('clusters'), this.#ownedBy(ownerOf)),
    domains: new RowTable(rowOrder('domains'), this.#ownedBy(ownerOf)),
    quotas: new RowTable(rowOrder('quotas')),
    providers: new RowTable(rowOrder('providers')),
    homes: new RowTable(rowOrder('homes'), this.#ownedBy(ownerOf)),
    transfers: new RowTable(rowOrder('transfers')),
    overrides: new RowTable(
      rowOrder('overrides'),
      this.#ownedBy((row) => ({ shardId: row.owner, uid: row.ownerUid })),
    ),
  };
  #meta: Meta;

  /** Throws `coordinator_row_malformed` when the engine holds a row that is not ours. */
  constructor(loaded: LoadedState) {
    this.#meta = loaded.meta;
    this.replaceWith(loaded);
  }

  /** The same, with a `turn` of the event loop between slices: decoding must not cost the lease. */
  static async load(loaded: LoadedState, turn: () => Promise<void>): Promise<FleetState> {
    const rows = noRows();
    for (let from = 0; from < loaded.rows.length; from += ROWS_PER_TURN) {
      if (from > 0) await turn();
      for (const row of loaded.rows.slice(from, from + ROWS_PER_TURN)) decodeInto(rows, row);
    }
    const state = new FleetState({ meta: loaded.meta, rows: [] });
    state.#fill(loaded.meta, rows);
    return state;
  }

  get meta(): Meta {
    return this.#meta;
  }

  /** One committed command. The index rises by one, as the engine has written it. */
  install(change: Change, commandId: string): void {
    for (const write of change.writes) this.#write(write);
    this.#meta = {
      ...this.#meta,
      applyIndex: this.#meta.applyIndex + 1,
      lastCommandId: commandId,
      assignmentRevision: change.assignmentRevision,
      ledgerGeneration: change.ledgerGeneration,
    };
  }

  /** Everything anew from the engine; on a malformed row nothing changes. */
  replaceWith(loaded: LoadedState): void {
    const rows = noRows();
    for (const row of loaded.rows) decodeInto(rows, row);
    this.#fill(loaded.meta, rows);
  }

  /** Keys that the engine may drop: dead by the rule of `shardUid`. */
  dangling(): RowKey[] {
    const quotas = this.#tables.quotas.all().filter((row) => !this.#hasLiveSlice(row));
    return [
      ...Object.values(this.#tables).flatMap((table) => table.dangling()),
      ...quotas.map((row) => keyOfRow('quotas', row)),
    ];
  }

  /** Asked again right before sweeping: a key may have been written anew since it died. */
  isDangling(key: RowKey): boolean {
    if (Object.values(this.#tables).some((table) => table.isDangling(key))) return true;
    const quota = this.#tables.quotas.get(key);
    return quota !== undefined && !this.#hasLiveSlice(quota);
  }

  /** Rows that the engine has swept. */
  forget(keys: readonly RowKey[]): void {
    for (const key of keys) {
      assert(this.isDangling(key), 'only a dead row is swept', { key });
      const parsed = parseRowKey(key);
      assert(parsed !== undefined, 'a stored row has a key of ours', { key });
      this.#write({ kind: 'delete', table: parsed.table, key });
    }
  }

  shard(id: string): ShardRow | undefined {
    return this.#tables.shards.get(rowKey('shards', id));
  }

  /** By id. */
  shards(): readonly ShardRow[] {
    return this.#tables.shards.all();
  }

  cluster(id: string): ClusterRow | undefined {
    return this.#tables.clusters.get(rowKey('clusters', id));
  }

  /** By cluster id. */
  clusters(): readonly ClusterRow[] {
    return this.#tables.clusters.all();
  }

  domain({ key, value }: Domain): DomainRow | undefined {
    return this.#tables.domains.get(rowKey('domains', key, value));
  }

  /** By key, then value. */
  domains(): readonly DomainRow[] {
    return this.#tables.domains.all();
  }

  domainsOf(shardId: string): readonly DomainRow[] {
    return this.#tables.domains.ownedBy(shardId);
  }

  quota(provider: string, region: string): QuotaRow | undefined {
    return this.#liveQuota(this.#tables.quotas.get(rowKey('quotas', provider, region)));
  }

  /** By provider, then region; dead slices are left out. */
  quotas(): readonly QuotaRow[] {
    return this.#tables.quotas.all().flatMap((row) => this.#liveQuota(row) ?? []);
  }

  provider(name: string): ProviderRow | undefined {
    return this.#tables.providers.get(rowKey('providers', name));
  }

  /** By name. */
  providers(): readonly ProviderRow[] {
    return this.#tables.providers.all();
  }

  /** Whose entry is for the shard (coordinator §7.5). */
  providersOf(shardId: string): readonly ProviderRow[] {
    return this.providers().filter((entry) => reaches(entry, shardId));
  }

  home(providerAddress: string): HomeRow | undefined {
    return this.#tables.homes.get(rowKey('homes', providerAddress));
  }

  homes(): readonly HomeRow[] {
    return this.#tables.homes.all();
  }

  transfer(id: string): TransferRow | undefined {
    return this.#tables.transfers.get(rowKey('transfers', id));
  }

  /** By id, of any phase. A transfer whose shard was removed is still shown. */
  transfers(): readonly TransferRow[] {
    return this.#tables.transfers.all();
  }

  /** PREPARING and COMMITTED only. */
  openTransfers(): readonly TransferRow[] {
    return this.#open.all();
  }

  override(machineId: string): OverrideRow | undefined {
    return this.#tables.overrides.get(rowKey('overrides', machineId));
  }

  overrides(): readonly OverrideRow[] {
    return this.#tables.overrides.all();
  }

  overridesOwnedBy(shardId: string): readonly OverrideRow[] {
    return this.#tables.overrides.ownedBy(shardId);
  }

  overrideCount(): number {
    return this.#tables.overrides.liveCount;
  }

  #ownedBy<R>(owner: (row: R) => Owner): Ownership<R> {
    return { ownerOf: owner, isLive: ({ shardId, uid }) => this.shard(shardId)?.uid === uid };
  }

  #isLiveSlice({ shardId, shardUid }: SliceRow): boolean {
    return this.shard(shardId)?.uid === shardUid;
  }

  #hasLiveSlice({ slices }: QuotaRow): boolean {
    return slices.some((slice) => this.#isLiveSlice(slice));
  }

  /**
   * A quota row as readers see it: without the slices of shards that are gone. A row without any live
   * slice is absent, as if its last slice had been removed by hand.
   */
  #liveQuota(row: QuotaRow | undefined): QuotaRow | undefined {
    if (row === undefined) return undefined;
    const slices = row.slices.filter((slice) => this.#isLiveSlice(slice));
    if (slices.length === 0) return undefined;
    return slices.length === row.slices.length ? row : { ...row, slices };
  }

  #write(write: Write): void {
    if (write.kind === 'delete') return this.#delete(write.table, write.key);
    if (write.table === 'shards') {
      const isSame = (this.#tables.shards.get(write.key)?.uid ?? write.row.uid) === write.row.uid;
      assert(isSame, 'a shard keeps its uid', { key: write.key });
    }
    if (write.table === 'transfers') {
      if (isOpen(write.row)) this.#open.put(write.row);
      else this.#open.remove(write.row);
    }
    this.#put(write.table, write.key, write.row);
  }

  #put<T extends Table>(table: T, key: RowKey, row: TableRows[T]): void {
    this.#tables[table].put(key, row);
  }

  /** Shards are the first of the tables: what they own is live by them. */
  #fill(meta: Meta, rows: RowsByTable): void {
    this.#meta = meta;
    for (const table of TABLES) this.#fillTable(table, rows[table]);
    this.#open.fill([...rows.transfers.values()].filter(isOpen));
  }

  #fillTable<T extends Table>(table: T, rows: RowsByTable[T]): void {
    this.#tables[table].fill(rows);
  }

  #delete(table: Table, key: RowKey): void {
    const shard = table === 'shards' ? this.#tables.shards.get(key) : undefined;
    const transfer = table === 'transfers' ? this.#tables.transfers.get(key) : undefined;
    this.#tables[table].delete(key);
    if (transfer !== undefined) this.#open.remove(transfer);
    if (shard === undefined) return;
    for (const owned of Object.values(this.#tables)) owned.dropOwner(shard.id);
  }
}

/** Reading the fleet state: only live rows, always in one order, never a mutable reference. */
export type FleetView = Omit<
  FleetState,
  'install' | 'replaceWith' | 'dangling' | 'isDangling' | 'forget'
>;

export function reaches({ shards }: ProviderRow, shardId: string): boolean {
  return shards.length === 0 || shards.includes(shardId);
}

function ownerOf({ shardId, shardUid: uid }: Omit<SliceRow, 'slice'>): Owner {
  return { shardId, uid };
}

function isOpen(row: TransferRow): boolean {
  return row.phase === 'PREPARING' || row.phase === 'COMMITTED';
}

type RowsByTable = { readonly [T in Table]: Map<RowKey, TableRows[T]> };

function noRows(): RowsByTable {
  return Object.fromEntries(TABLES.map((table) => [table, new Map()])) as unknown as RowsByTable;
}

function decodeInto(rows: RowsByTable, { table, key, value }: StoredRow): void {
  const put = <T extends Table>(name: T): void => {
    rows[name].set(key, decodeStoredRow(name, key, value));
  };
  put(table);
}
