// Reading the fleet state: every list in its documented order, only live rows, zero for "never"; and
// GetStatus, the one answer that a follower gives.

import {
  type Coordinator,
  type CoordinatorAdmin,
  fromMap,
  type Handlers,
  TransferRecordPhase,
} from '@bigfleet/wire';
import type { RecoveryMachine } from '../recovery/recovery-machine.ts';
import { waitText } from '../recovery/waits.ts';
import { lastHeartbeatUnixNs, reportSnapshots } from '../reports/projection.ts';
import type { DomainRow } from '../state/rows.ts';
import type { LeaderTerm } from '../replica/leader-term.ts';
import type { LeaderGate } from './leader-gate.ts';
import type { ServiceParts } from './router.ts';

type ListMethod =
  | 'listShards'
  | 'listDomainAssignments'
  | 'listQuotas'
  | 'listProviders'
  | 'listShardReports';
type AdminListMethod = 'listClusterBindings' | 'listTransfers';

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
            phase: TransferRecordPhase[row.phase],
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

/** What any replica knows about itself and its leader. */
export function statusHandler(
  parts: ServiceParts,
): Pick<Handlers<typeof CoordinatorAdmin>, 'getStatus'> {
  const { replica, store, nodeId, version } = parts;
  return {
    getStatus: async () => {
      const { leader: hint, status } = replica.observed();
      const leader = replica.leading();
      return {
        nodeId,
        isLeader: leader !== undefined,
        leaderNodeId: hint?.nodeId ?? '',
        leaderAddress: hint?.grpcAddress ?? '',
        coordinatorTerm: leader?.leadership.term ?? hint?.term ?? 0n,
        storeRaftTerm: status?.storeRaftTerm ?? 0n,
        applyIndex: BigInt(leader?.ledger.state.meta.applyIndex ?? status?.applyIndex ?? 0),
        storeEngine: store.engine,
        replicas: [...(status?.replicas ?? [])],
        clusterUid: status?.clusterUid ?? '',
        recoveringProviders: leader === undefined ? [] : recoveryLines(leader.desk.recovery),
        version,
        pendingInstructions: leader === undefined ? {} : pendingInstructions(leader),
      };
    },
  };
}

/** By registered shard, as the metric counts them: nobody who does not lead has any to give. */
function pendingInstructions({ ledger, desk }: LeaderTerm): Record<string, number> {
  const shards = ledger.state.shards();
  return fromMap(new Map(shards.map(({ id }) => [id, desk.queue.count(id)])));
}

/**
 * One line per provider and per thing that it waits for: `<address>: <what>`. A provider that waits for
 * nothing but time is its bare address, and all of them together are `*`.
 */
function recoveryLines(recovery: RecoveryMachine): string[] {
  const waits = recovery.waits();
  const lines = waits.flatMap(({ wait, addresses }) =>
    addresses.map((address) => `${address}: ${waitText(wait)}`),
  );
  const recovering = recovery.recoveringProviders();
  const named = new Set(waits.flatMap(({ addresses }) => addresses));
  const rest = recovering === 'all' ? ['*'] : [...recovering];
  return [...lines, ...rest.filter((address) => !named.has(address))].toSorted();
}
