// Reading the fleet state: every list in its documented order, only live rows, zero for "never".

import {
  type Coordinator,
  type CoordinatorAdmin,
  fromMap,
  type Handlers,
  TransferRecordPhase,
} from '@bigfleet/wire';
import { lastHeartbeatUnixNs, reportSnapshots } from '../reports/projection.ts';
import type { DomainRow, TransferPhase } from '../state/rows.ts';
import type { LeaderGate } from './leader-gate.ts';

type ListMethod =
  | 'listShards'
  | 'listDomainAssignments'
  | 'listQuotas'
  | 'listProviders'
  | 'listShardReports';
type AdminListMethod = 'listClusterBindings' | 'listTransfers';

const PHASES: Readonly<Record<TransferPhase, TransferRecordPhase>> = {
  PREPARING: TransferRecordPhase.PREPARING,
  COMMITTED: TransferRecordPhase.COMMITTED,
  DONE: TransferRecordPhase.DONE,
  ABORTED: TransferRecordPhase.ABORTED,
};

export function listHandlers(gate: LeaderGate): Pick<Handlers<typeof Coordinator>, ListMethod> {
  return {
    listShards: () =>
      gate.read(({ ledger, soft }) => ({
        shards: ledger.state.shards().map((shard) => ({
          shardId: shard.id,
          address: shard.address,
          registeredAtUnixNs: nanos(shard.registeredAtMs),
          lastHeartbeatUnixNs: lastHeartbeatUnixNs(soft, shard.id),
        })),
      })),
    listDomainAssignments: () =>
      gate.read(({ ledger }) => ({
        assignments: ledger.state
          .domains()
          .toSorted(byShard)
          .map((row) => ({
            topologyKey: row.key,
            topologyValue: row.value,
            shardId: row.shardId,
            releasing: row.state === 'RELEASING',
          })),
      })),
    listQuotas: () =>
      gate.read(({ ledger }) => ({
        allocations: ledger.state.quotas().map(({ provider, region, slices }) => ({
          provider,
          region,
          perShard: fromMap(new Map(slices.map(({ shardId, slice }) => [shardId, slice]))),
        })),
      })),
    listProviders: () =>
      gate.read(({ ledger }) => ({
        providers: ledger.state.providers().map((row) => ({ ...row, shards: [...row.shards] })),
      })),
    listShardReports: ({ shardId }) =>
      gate.read(({ soft }) => ({ reports: [...reportSnapshots(soft, shardId)] })),
  };
}

export function adminListHandlers(
  gate: LeaderGate,
): Pick<Handlers<typeof CoordinatorAdmin>, AdminListMethod> {
  return {
    listClusterBindings: ({ shardId }) =>
      gate.read(({ ledger, desk }) => ({
        bindings: ledger.state
          .clusters()
          .filter((row) => shardId === '' || row.shardId === shardId)
          .map((row) => ({
            clusterId: row.clusterId,
            shardId: row.shardId,
            boundAtUnixNs: nanos(row.boundAtMs),
            conflictingShardId: desk.clusters.conflictingShard(row.clusterId) ?? '',
          })),
      })),
    listTransfers: ({ shardId, includeClosed }) =>
      gate.read(({ ledger }) => ({
        transfers: (includeClosed ? ledger.state.transfers() : ledger.state.openTransfers())
          .filter((row) => shardId === '' || row.from === shardId || row.to === shardId)
          .map((row) => ({
            transferId: row.id,
            fromShardId: row.from,
            toShardId: row.to,
            phase: PHASES[row.phase],
            machineIds: [...row.machineIds],
            tier: row.tier,
            reasonCode: row.reasonCode,
            createdAtUnixNs: nanos(row.createdAtMs),
            updatedAtUnixNs: nanos(row.updatedAtMs),
            providerAddress: row.providerAddress,
          })),
      })),
  };
}

function nanos(milliseconds: number): bigint {
  return BigInt(milliseconds) * 1_000_000n;
}

/** Stable: within a shard the rows keep the order of the state, by key and value. */
function byShard(a: DomainRow, b: DomainRow): number {
  if (a.shardId === b.shardId) return 0;
  return a.shardId < b.shardId ? -1 : 1;
}
