// Reading the fleet state: only live rows, always in one order (coordinator §2.3), never a mutable
// reference.

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
  TransferRow,
} from './rows.ts';

export interface FleetView {
  readonly meta: Meta;
  shard(id: string): ShardRow | undefined;
  /** By id. */
  shards(): readonly ShardRow[];
  cluster(id: string): ClusterRow | undefined;
  /** By cluster id. */
  clusters(): readonly ClusterRow[];
  domain(domain: Domain): DomainRow | undefined;
  /** By key, then value. */
  domains(): readonly DomainRow[];
  domainsOf(shardId: string): readonly DomainRow[];
  quota(provider: string, region: string): QuotaRow | undefined;
  /** By provider, then region; dead slices are left out. */
  quotas(): readonly QuotaRow[];
  provider(name: string): ProviderRow | undefined;
  /** By name. */
  providers(): readonly ProviderRow[];
  home(providerAddress: string): HomeRow | undefined;
  homes(): readonly HomeRow[];
  transfer(id: string): TransferRow | undefined;
  /** By id, of any phase. A transfer whose shard was removed is still shown. */
  transfers(): readonly TransferRow[];
  /** PREPARING and COMMITTED only. */
  openTransfers(): readonly TransferRow[];
  override(machineId: string): OverrideRow | undefined;
  overrides(): readonly OverrideRow[];
  overridesOwnedBy(shardId: string): readonly OverrideRow[];
  overrideCount(): number;
}
