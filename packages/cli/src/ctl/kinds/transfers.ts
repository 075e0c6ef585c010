// Moves of machines between shards, from the coordinator's ledger: those under way, or all that are
// kept.

import { ok } from '@bigfleet/base';
import { type TransferRecord, TransferRecordPhase } from '@bigfleet/wire';
import { ageText, enumName, utcTime } from '../output/text.ts';
import { defineKind, fromCoordinator, isOfShard, type Kind, onlyOne } from './kind.ts';

function transferRow(record: TransferRecord, nowUnixNanos: bigint) {
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

type TransferRow = ReturnType<typeof transferRow>;

export const transfers: Kind = defineKind<TransferRow>({
  plural: 'transfers',
  columns: [
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
  ],
  rows: fromCoordinator('list transfers', async ({ admin }, call, { query, nowUnixNanos }) => {
    const { includeClosed } = query;
    const request = { shardId: onlyOne(query.shards), includeClosed };
    const { transfers: records } = await admin.listTransfers(request, call);
    return records
      .map((record) => transferRow(record, nowUnixNanos))
      .filter(({ from, to }) => isOfShard(query, from) || isOfShard(query, to));
  }),
  narrow: () => ok({ includeClosed: true }),
  isNamed: ({ transfer }, name) => transfer === name,
});
