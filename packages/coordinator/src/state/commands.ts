// Every change of the durable state, as data (coordinator §2.4). Times and ids are in the command,
// stamped by the leader before it is applied: the decision itself reads no clock and no dice.

import type {
  Domain,
  OverrideRow,
  ProviderRow,
  QuotaMoveRow,
  ShardRow,
  TransferRow,
} from './rows.ts';

export interface CommandHead {
  readonly commandId: string;
  readonly issuedAtMs: number;
}

/** By kind. */
interface Payloads {
  readonly AddShard: Pick<ShardRow, 'id' | 'address' | 'registeredAtMs'>;
  readonly RemoveShard: { readonly id: string };
  readonly BindCluster: {
    readonly cluster: string;
    readonly shard: string;
    readonly force: boolean;
  };
  readonly AssignDomain: { readonly domain: Domain; readonly shard: string };
  readonly UnassignDomain: { readonly domain: Domain };
  readonly SetQuota: {
    readonly provider: string;
    readonly region: string;
    readonly perShard: ReadonlyMap<string, number>;
  };
  readonly UpsertProvider: { readonly entry: ProviderRow };
  readonly RemoveProvider: { readonly name: string };
  readonly UnbindCluster: { readonly cluster: string };
  readonly DomainReleased: { readonly domain: Domain; readonly shard: string };
  readonly SetProviderHome: {
    readonly providerAddress: string;
    readonly shard: string;
    /** The home that it replaces; absent: only where there is none. */
    readonly from?: string;
  };
  readonly RecordShardEpoch: { readonly shard: string; readonly epoch: bigint };
  readonly BeginTransfer: Pick<
    TransferRow,
    'id' | 'from' | 'to' | 'tier' | 'providerAddress' | 'reasonCode' | 'selector'
  >;
  readonly CommitTransfer: Pick<TransferRow, 'id' | 'machineIds'> & {
    readonly maxOverrides: number;
  };
  readonly FinishTransfer: { readonly id: string };
  readonly AbortTransfer: { readonly id: string; readonly reasonCode: string };
  readonly ClearOverrides: { readonly machineIds: readonly string[]; readonly owner: string };
  readonly MoveQuota: Pick<TransferRow, 'id' | 'from' | 'to'> &
    Omit<QuotaMoveRow, 'step'> & { readonly step: 'SHRINK' | 'GROW' | 'RESTORE' };
  readonly GcTransfers: { readonly beforeMs: number };
  // Recovery (coordinator §9.6 last rows, §10.5): what a shard proved to hold and the ledger does not
  // know.
  readonly RestoreTransfer: {
    readonly transfer: Pick<TransferRow, 'id' | 'from' | 'to' | 'providerAddress' | 'machineIds'>;
  };
  readonly RestoreOverride: Omit<OverrideRow, 'ownerUid'>;
}

export type CommandKind = keyof Payloads;

export type CommandOf<K extends CommandKind> = { readonly kind: K } & Payloads[K];

export type CommandBody = { readonly [K in CommandKind]: CommandOf<K> }[CommandKind];

export type Command = CommandHead & CommandBody;
