// Every change of the durable state, as data (coordinator §2.4). Times and ids are in the command,
// stamped by the leader before it is applied: the decision itself reads no clock and no dice.

import type { Domain, ProviderRow, SelectorRow, TransferTier } from './rows.ts';

export interface CommandHead {
  readonly commandId: string;
  readonly issuedAtMs: number;
}

export type CommandBody =
  | {
      readonly kind: 'AddShard';
      readonly id: string;
      readonly address: string;
      readonly registeredAtMs: number;
    }
  | { readonly kind: 'RemoveShard'; readonly id: string }
  | {
      readonly kind: 'BindCluster';
      readonly cluster: string;
      readonly shard: string;
      readonly force: boolean;
    }
  | { readonly kind: 'AssignDomain'; readonly domain: Domain; readonly shard: string }
  | { readonly kind: 'UnassignDomain'; readonly domain: Domain }
  | {
      readonly kind: 'SetQuota';
      readonly provider: string;
      readonly region: string;
      readonly perShard: ReadonlyMap<string, number>;
    }
  | { readonly kind: 'UpsertProvider'; readonly entry: ProviderRow }
  | { readonly kind: 'RemoveProvider'; readonly name: string }
  | { readonly kind: 'UnbindCluster'; readonly cluster: string }
  | { readonly kind: 'DomainReleased'; readonly domain: Domain; readonly shard: string }
  | {
      readonly kind: 'SetProviderHome';
      readonly providerAddress: string;
      readonly shard: string;
      /** The home that it replaces; absent: only where there is none. */
      readonly from?: string;
    }
  | { readonly kind: 'RecordShardEpoch'; readonly shard: string; readonly epoch: bigint }
  | {
      readonly kind: 'BeginTransfer';
      readonly id: string;
      readonly from: string;
      readonly to: string;
      readonly tier: TransferTier;
      readonly providerAddress: string;
      readonly reasonCode: string;
      readonly selector: SelectorRow | null;
    }
  | {
      readonly kind: 'CommitTransfer';
      readonly id: string;
      readonly machineIds: readonly string[];
      readonly maxOverrides: number;
    }
  | { readonly kind: 'FinishTransfer'; readonly id: string }
  | { readonly kind: 'AbortTransfer'; readonly id: string; readonly reasonCode: string }
  | {
      readonly kind: 'ClearOverrides';
      readonly machineIds: readonly string[];
      readonly owner: string;
    }
  | {
      readonly kind: 'MoveQuota';
      readonly id: string;
      readonly provider: string;
      readonly region: string;
      readonly from: string;
      readonly to: string;
      readonly count: number;
      readonly step: 'SHRINK' | 'GROW' | 'RESTORE';
    }
  | { readonly kind: 'GcTransfers'; readonly beforeMs: number }
  /**
   * Recovery (coordinator §9.6 last rows, §10.5): what a shard proved to hold and the ledger does
   * not know.
   */
  | { readonly kind: 'RestoreTransfer'; readonly transfer: RestoredTransfer }
  | {
      readonly kind: 'RestoreOverride';
      readonly machineId: string;
      readonly owner: string;
      readonly transferId: string;
    };

export interface RestoredTransfer {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly providerAddress: string;
  readonly machineIds: readonly string[];
}

export type Command = CommandHead & CommandBody;

export type CommandOf<K extends CommandBody['kind']> = Extract<CommandBody, { kind: K }>;
