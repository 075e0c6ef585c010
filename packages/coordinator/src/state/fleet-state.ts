// The fleet state in memory: what the engine holds, indexed for reading. It changes in one step per
// committed command (`install`) or as a whole (`replaceWith`), never in between, and decides
// nothing: rules live in decide/. Dead rows (coordinator §2.1) stay until they are swept and are
// never shown.
// Cost: reads by key and by owner do not walk tables of 100,000 rows; a list is not copied.

import { assert } from '@bigfleet/base';
import type { FleetView } from './fleet-view.ts';
import {
  clusterKey,
  domainKey,
  homeKey,
  overrideKey,
  parseRowKey,
  providerKey,
  quotaKey,
  shardKey,
  transferKey,
  rowOrders,
} from './keys.ts';
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
  Table,
  TableRows,
  TransferRow,
} from './rows.ts';
import { type Owner, OwnedTable, PlainTable, SortedRows } from './tables.ts';
import type { LoadedState, StoredRow, Change, RowKey, Write } from './writes.ts';

/** Rows decoded between two turns of the event loop: some 10 ms. */
const ROWS_PER_TURN = 2_000;

const owner = (row: { readonly shardId: string; readonly shardUid: number }): Owner => ({
  shardId: row.shardId,
  uid: row.shardUid,
});

export class FleetState implements FleetView {
  readonly #isLive = ({ shardId, uid }: Owner): boolean => this.shard(shardId)?.uid === uid;
  readonly #shards = new PlainTable<ShardRow>(rowOrders.shards);
  readonly #providers = new PlainTable<ProviderRow>(rowOrders.providers);
  readonly #quotas = new PlainTable<QuotaRow>(rowOrders.quotas);
  readonly #transfers = new PlainTable<TransferRow>(rowOrders.transfers);
  readonly #open = new SortedRows<TransferRow>(rowOrders.transfers);
  readonly #clusters = new OwnedTable<ClusterRow>({
    order: rowOrders.clusters,
    ownerOf: owner,
    isLive: this.#isLive,
  });
  readonly #domains = new OwnedTable<DomainRow>({
    order: rowOrders.domains,
    ownerOf: owner,
    isLive: this.#isLive,
  });
  readonly #homes = new OwnedTable<HomeRow>({
    order: rowOrders.homes,
    ownerOf: owner,
    isLive: this.#isLive,
  });
  readonly #overrides = new OwnedTable<OverrideRow>({
    order: rowOrders.overrides,
    ownerOf: (row) => ({ shardId: row.owner, uid: row.ownerUid }),
    isLive: this.#isLive,
  });
  readonly #owned = [this.#clusters, this.#domains, this.#homes, this.#overrides] as const;
  readonly #tables: Readonly<Record<Table, { delete(key: RowKey): void }>> = {
    shards: this.#shards,
    clusters: this.#clusters,
    domains: this.#domains,
    quotas: this.#quotas,
    providers: this.#providers,
    homes: this.#homes,
    transfers: this.#transfers,
    overrides: this.#overrides,
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
    const quotas = [...this.#quotas.entries()].filter(([, row]) => !this.#hasLiveSlice(row));
    return [...this.#owned.flatMap((table) => table.dangling()), ...quotas.map(([key]) => key)];
  }

  /** Asked again right before sweeping: a key may have been written anew since it died. */
  isDangling(key: RowKey): boolean {
    if (this.#owned.some((table) => table.isDangling(key))) return true;
    const quota = this.#quotas.get(key);
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
    return this.#shards.get(shardKey(id));
  }

  shards(): readonly ShardRow[] {
    return this.#shards.all();
  }

  cluster(id: string): ClusterRow | undefined {
    return this.#clusters.get(clusterKey(id));
  }

  clusters(): readonly ClusterRow[] {
    return this.#clusters.all();
  }

  domain(domain: Domain): DomainRow | undefined {
    return this.#domains.get(domainKey(domain));
  }

  domains(): readonly DomainRow[] {
    return this.#domains.all();
  }

  domainsOf(shardId: string): readonly DomainRow[] {
    return this.#domains.ownedBy(shardId);
  }

  quota(provider: string, region: string): QuotaRow | undefined {
    const row = this.#quotas.get(quotaKey(provider, region));
    return liveQuota(row, (id) => this.shard(id));
  }

  quotas(): readonly QuotaRow[] {
    const live = this.#quotas.all().map((row) => liveQuota(row, (id) => this.shard(id)));
    return live.filter((row) => row !== undefined);
  }

  provider(name: string): ProviderRow | undefined {
    return this.#providers.get(providerKey(name));
  }

  providers(): readonly ProviderRow[] {
    return this.#providers.all();
  }

  home(providerAddress: string): HomeRow | undefined {
    return this.#homes.get(homeKey(providerAddress));
  }

  homes(): readonly HomeRow[] {
    return this.#homes.all();
  }

  transfer(id: string): TransferRow | undefined {
    return this.#transfers.get(transferKey(id));
  }

  transfers(): readonly TransferRow[] {
    return this.#transfers.all();
  }

  openTransfers(): readonly TransferRow[] {
    return this.#open.all();
  }

  override(machineId: string): OverrideRow | undefined {
    return this.#overrides.get(overrideKey(machineId));
  }

  overrides(): readonly OverrideRow[] {
    return this.#overrides.all();
  }

  overridesOwnedBy(shardId: string): readonly OverrideRow[] {
    return this.#overrides.ownedBy(shardId);
  }

  overrideCount(): number {
    return this.#overrides.liveCount;
  }

  #hasLiveSlice(row: QuotaRow): boolean {
    return row.slices.some(({ shardId, shardUid }) => this.#isLive({ shardId, uid: shardUid }));
  }

  #write(write: Write): void {
    if (write.kind === 'delete') this.#delete(write.table, write.key);
    else this.#put(write);
  }

  #put(write: Extract<Write, { kind: 'put' }>): void {
    switch (write.table) {
      case 'shards':
        return this.#putShard(write.key, write.row);
      case 'clusters':
        return this.#clusters.put(write.key, write.row);
      case 'domains':
        return this.#domains.put(write.key, write.row);
      case 'quotas':
        return this.#quotas.put(write.key, write.row);
      case 'providers':
        return this.#providers.put(write.key, write.row);
      case 'homes':
        return this.#homes.put(write.key, write.row);
      case 'transfers':
        return this.#putTransfer(write.key, write.row);
      case 'overrides':
        return this.#overrides.put(write.key, write.row);
    }
  }

  #putShard(key: RowKey, row: ShardRow): void {
    const known = this.#shards.get(key);
    assert(known === undefined || known.uid === row.uid, 'a shard keeps its uid', { key });
    this.#shards.put(key, row);
  }

  #putTransfer(key: RowKey, row: TransferRow): void {
    this.#transfers.put(key, row);
    if (isOpen(row)) this.#open.put(row);
    else this.#open.remove(row);
  }

  #fill(meta: Meta, rows: RowsByTable): void {
    this.#meta = meta;
    this.#shards.fill(rows.shards);
    this.#providers.fill(rows.providers);
    this.#quotas.fill(rows.quotas);
    this.#transfers.fill(rows.transfers);
    this.#open.fill([...rows.transfers.values()].filter(isOpen));
    this.#clusters.fill(rows.clusters);
    this.#domains.fill(rows.domains);
    this.#homes.fill(rows.homes);
    this.#overrides.fill(rows.overrides);
  }

  #delete(table: Table, key: RowKey): void {
    if (table === 'shards') return this.#deleteShard(key);
    if (table === 'transfers') {
      const known = this.#transfers.get(key);
      if (known !== undefined) this.#open.remove(known);
    }
    this.#tables[table].delete(key);
  }

  #deleteShard(key: RowKey): void {
    const known = this.#shards.get(key);
    this.#shards.delete(key);
    if (known === undefined) return;
    for (const table of this.#owned) table.dropOwner(known.id);
  }
}

function isOpen(row: TransferRow): boolean {
  return row.phase === 'PREPARING' || row.phase === 'COMMITTED';
}

type RowsByTable = { readonly [T in Table]: Map<RowKey, TableRows[T]> };

function noRows(): RowsByTable {
  return {
    shards: new Map(),
    clusters: new Map(),
    domains: new Map(),
    quotas: new Map(),
    providers: new Map(),
    homes: new Map(),
    transfers: new Map(),
    overrides: new Map(),
  };
}

function decodeInto(rows: RowsByTable, { table, key, value }: StoredRow): void {
  const put = <T extends Table>(name: T): void => {
    rows[name].set(key, decodeStoredRow(name, key, value));
  };
  put(table);
}

/**
 * A quota row as readers see it: without the slices of shards that are gone. A row without any live
 * slice is absent, as if its last slice had been removed by hand.
 */
function liveQuota(
  row: QuotaRow | undefined,
  shard: (id: string) => ShardRow | undefined,
): QuotaRow | undefined {
  if (row === undefined) return undefined;
  const slices = row.slices.filter(({ shardId, shardUid }) => shard(shardId)?.uid === shardUid);
  if (slices.length === 0) return undefined;
  return slices.length === row.slices.length ? row : { ...row, slices };
}
