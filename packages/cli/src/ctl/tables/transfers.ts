// Moves of machines between shards, from the coordinator's ledger.

import { TransferRecordPhase, type TransferRecord } from '@bigfleet/wire';
import type { Column } from '../output/table.ts';
import { ageText, utcTime } from '../output/texts.ts';
import { enumName } from './enum-name.ts';

export interface TransferRow {
  readonly transfer: string;
  readonly from: string;
  readonly to: string;
  readonly tier: number;
  readonly phase: string;
  readonly machines: readonly string[];
  readonly age: string;
  readonly reasonCode: string;
  readonly provider: string;
  readonly created: string | null;
  readonly updated: string | null;
}

export function transferRow(record: TransferRecord, nowUnixNanos: bigint): TransferRow {
  return {
    transfer: record.transferId,
    from: record.fromShardId,
    to: record.toShardId,
    tier: record.tier,
    phase: enumName(TransferRecordPhase, record.phase),
    machines: record.machineIds,
    age: ageText(record.createdAtUnixNs, nowUnixNanos),
    reasonCode: record.reasonCode,
    provider: record.providerAddress,
    created: utcTime(record.createdAtUnixNs) ?? null,
    updated: utcTime(record.updatedAtUnixNs) ?? null,
  };
}

export const transferColumns: readonly Column<TransferRow>[] = [
  { title: 'TRANSFER', of: ({ transfer }) => transfer },
  { title: 'FROM', of: ({ from }) => from },
  { title: 'TO', of: ({ to }) => to },
  { title: 'TIER', of: ({ tier }) => String(tier) },
  {
    title: 'PHASE',
    of: ({ phase }) => phase,
    tone: ({ phase }) => (phase === 'aborted' ? 'bad' : phase === 'done' ? 'good' : undefined),
  },
  { title: 'MACHINES', of: ({ machines }) => String(machines.length) },
  { title: 'AGE', of: ({ age }) => age },
  { title: 'REASON', of: ({ reasonCode }) => reasonCode, isWide: true },
  { title: 'PROVIDER', of: ({ provider }) => provider, isWide: true },
  { title: 'UPDATED', of: ({ updated }) => updated ?? '', isWide: true },
];
