// The durable tables (coordinator §2.1) as plain rows. A row is what is stored, nothing derived:
// whether it is live is asked of the state, by comparing `shardUid` with the shard's current one.
// Heartbeats, reports and instructions are not here: they are soft and live with the leader only.
// Below the tables is what one command changes. The engines store rows as JSON under their key and know
// nothing of their meaning; the state takes the same list, so memory and disk cannot drift.

export interface ShardRow {
  readonly id: string;
  /** Of the first sight; changing it is remove and register again. */
  readonly address: string;
  readonly registeredAtMs: number;
  /** Apply index of the AddShard that made this row: a shard of the same name later is another. */
  readonly uid: number;
  readonly maxEpoch: bigint;
}

export interface ClusterRow {
  readonly clusterId: string;
  readonly shardId: string;
  readonly shardUid: number;
  readonly boundAtMs: number;
}

export interface Domain {
  readonly key: string;
  readonly value: string;
}

export interface DomainRow extends Domain {
  readonly shardId: string;
  readonly shardUid: number;
  readonly state: 'ASSIGNED' | 'RELEASING';
  /** The assignment revision that wrote it. */
  readonly revision: number;
}

export interface QuotaRow {
  readonly provider: string;
  readonly region: string;
  /** Sorted by shard id. A slice of a shard that is gone is dead, by `shardUid`. */
  readonly slices: readonly SliceRow[];
}

export interface SliceRow {
  readonly shardId: string;
  readonly shardUid: number;
  readonly slice: number;
}

export interface ProviderRow {
  readonly name: string;
  readonly address: string;
  readonly region: string;
  /** 0 = undeclared. */
  readonly declaredQuota: number;
  /** Sorted; empty = every registered shard. */
  readonly shards: readonly string[];
}

/** The one shard that owns what no domain matches, of a provider that several shards dial. */
export interface HomeRow {
  readonly providerAddress: string;
  readonly shardId: string;
  readonly shardUid: number;
}

export type TransferPhase = 'PREPARING' | 'COMMITTED' | 'DONE' | 'ABORTED';

/** 1 = idle machines, 2 = speculative quota; a tier-3 drain moves no ownership and has no row. */
export type TransferTier = 1 | 2;

export interface TransferRow {
  readonly id: string;
  readonly from: string;
  readonly fromUid: number;
  readonly to: string;
  readonly toUid: number;
  readonly tier: TransferTier;
  readonly phase: TransferPhase;
  readonly providerAddress: string;
  /** Empty until the donor resolved them. */
  readonly machineIds: readonly string[];
  /** Why it was begun, or why it was aborted: a code of the catalogue. */
  readonly reasonCode: string;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** What the move answers, so that a new leader can drive it on; JSON of our own making. */
  readonly selector: SelectorRow | null;
  /** Tier 2: how far the slices have moved. */
  readonly quota: QuotaMoveRow | null;
}

export interface SelectorRow {
  readonly instanceType: string;
  readonly zone: string;
  readonly count: number;
  readonly requirements: readonly RequirementRow[];
  readonly deficit: readonly (readonly [string, string])[];
  readonly minUnit: readonly (readonly [string, string])[];
  readonly interruptionPenaltyBucket: number;
}

export interface RequirementRow {
  readonly key: string;
  /** The number of the wire enum. */
  readonly operator: number;
  readonly values: readonly string[];
}

export interface QuotaMoveRow {
  readonly provider: string;
  readonly region: string;
  readonly count: number;
  readonly step: 'SHRUNK' | 'GROWN' | 'RESTORED';
}

/** A machine whose owner is not what domains and homes say. */
export interface OverrideRow {
  readonly machineId: string;
  readonly owner: string;
  readonly ownerUid: number;
  readonly transferId: string;
}

export interface Meta {
  readonly schema: number;
  readonly clusterUid: string;
  /** Of the current leadership; written by the engine, never by a command. */
  readonly term: bigint;
  readonly applyIndex: number;
  readonly lastCommandId: string;
  readonly assignmentRevision: number;
  /** Raised by every restore (coordinator §10.5). */
  readonly ledgerGeneration: number;
}

export interface TableRows {
  readonly shards: ShardRow;
  readonly clusters: ClusterRow;
  readonly domains: DomainRow;
  readonly quotas: QuotaRow;
  readonly providers: ProviderRow;
  readonly homes: HomeRow;
  readonly transfers: TransferRow;
  readonly overrides: OverrideRow;
}

export type Table = keyof TableRows;

/** `<table>/<segment>[/<segment>]`, each segment percent-encoded: the etcd key below the prefix. */
export type RowKey = string;

export type Write =
  | {
      readonly [T in Table]: {
        readonly kind: 'put';
        readonly table: T;
        readonly key: RowKey;
        readonly row: TableRows[T];
      };
    }[Table]
  | { readonly kind: 'delete'; readonly table: Table; readonly key: RowKey };

/** The outcome of deciding one command. Nothing is written by deciding. */
export interface Change {
  readonly writes: readonly Write[];
  /**
   * Rows that the decision read and that must not have changed when it is committed (coordinator
   * §3.4).
   */
  readonly reads: readonly RowKey[];
  /** Dead by the rule of `shardUid`; swept later, in batches, never part of the commit. */
  readonly gc: readonly RowKey[];
  readonly assignmentRevision: number;
  readonly ledgerGeneration: number;
}

/** A row as an engine keeps it. */
export interface StoredRow {
  readonly table: Table;
  readonly key: RowKey;
  /** JSON as written by `encodeRow`. */
  readonly value: string;
}

/** Everything that an engine holds, dead rows included, at one point in time. */
export interface LoadedState {
  readonly meta: Meta;
  readonly rows: readonly StoredRow[];
}
